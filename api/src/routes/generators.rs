//! `/admin/generators`: CSR Generators. Reading the list is open to any user.

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::csr_generator::{CsrGeneratorBody, CsrGeneratorDetails, CsrGeneratorItem};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::{Actor, Administrator};
use crate::error::{ApiError, JsonError};
use crate::inventory::csr_generator::{self, NewCsrGenerator};
use crate::json::Json;
use crate::request::PathId;

/// CSR Generators, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(one, change, delete))
}

/// What any user may read of them.
pub fn member_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list))
}

/// All CSR Generators, oldest first.
#[utoipa::path(
    get, path = "/admin/generators", tag = "CSR Generators",
    responses(
        (status = 200, body = Vec<CsrGeneratorItem>), (status = "default", body = JsonError),
    ),
)]
async fn list(
    State(state): State<AppState>,
    _by: Actor,
) -> Result<Json<Vec<CsrGeneratorItem>>, ApiError> {
    let all = state.store.csr_generators().await?;
    Ok(Json(all.into_iter().map(CsrGeneratorItem::from).collect()))
}

/// One CSR Generator.
#[utoipa::path(
    get, path = "/admin/generators/{id}", tag = "CSR Generators", params(("id" = String, Path)),
    responses(
        (status = 200, body = CsrGeneratorDetails), (status = "default", body = JsonError),
    ),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::CsrGenerator>,
) -> Result<Json<CsrGeneratorDetails>, ApiError> {
    Ok(Json(csr_generator::find(&state, id).await?.into()))
}

/// Makes a CSR Generator.
#[utoipa::path(
    post, path = "/admin/generators", tag = "CSR Generators", request_body = CsrGeneratorBody,
    responses(
        (status = 200, body = CsrGeneratorDetails), (status = "default", body = JsonError),
    ),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    Json(body): Json<CsrGeneratorBody>,
) -> Result<Json<CsrGeneratorDetails>, ApiError> {
    let new = sound(body)?;
    Ok(Json(csr_generator::create(&state, by.username(), new).await?.into()))
}

/// Changes a CSR Generator, for the requests that come from now on.
#[utoipa::path(
    put, path = "/admin/generators/{id}", tag = "CSR Generators", params(("id" = String, Path)),
    request_body = CsrGeneratorBody,
    responses(
        (status = 200, body = CsrGeneratorDetails), (status = "default", body = JsonError),
    ),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::CsrGenerator>,
    Json(body): Json<CsrGeneratorBody>,
) -> Result<Json<CsrGeneratorDetails>, ApiError> {
    let new = sound(body)?;
    Ok(Json(csr_generator::change(&state, by.username(), id, new).await?.into()))
}

/// Deletes a CSR Generator that no issuer is restricted to.
#[utoipa::path(
    delete, path = "/admin/generators/{id}", tag = "CSR Generators",
    params(("id" = String, Path)),
    responses(
        (status = 200, body = CsrGeneratorDetails), (status = "default", body = JsonError),
    ),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::CsrGenerator>,
) -> Result<Json<CsrGeneratorDetails>, ApiError> {
    Ok(Json(csr_generator::delete(&state, by.username(), id).await?.into()))
}

fn sound(body: CsrGeneratorBody) -> Result<NewCsrGenerator, ApiError> {
    let mut faults = Faults::default();
    let new = body.read(&mut faults);
    faults.finish()?;
    new.ok_or_else(|| ApiError::invalid_field("signatureAlgorithm", "makes no key"))
}
