//! Changing a Local CA.

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{check_urls, item};
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::inventory::keep_first;
use crate::inventory::local_ca::{LocalCaChange, change};
use crate::json::Json;
use crate::request::PathId;
use crate::routes::json::local_ca::{LocalCaChangeBody, LocalCaItem};
use crate::routes::validate::Faults;
use crate::store::local_ca::LocalCaStatus;

pub(super) fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(change_one))
        .routes(routes!(offline))
        .routes(routes!(online))
}

/// Changes its name, or what its certificates point to from now on.
#[utoipa::path(
    put, path = "/admin/localca/{id}", tag = "Local CAs", params(("id" = String, Path)),
    request_body = LocalCaChangeBody,
    responses((status = 200, body = LocalCaItem), (status = "default", body = JsonError)),
)]
async fn change_one(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::LocalCa>,
    Json(body): Json<LocalCaChangeBody>,
) -> Result<Json<LocalCaItem>, ApiError> {
    let mut faults = Faults::default();
    if let Some(name) = &body.name {
        faults.check_name("name", name, 100);
    }
    let mut urls = |field, given: Option<Option<Vec<String>>>| {
        let mut urls = given?.unwrap_or_default();
        keep_first(&mut urls);
        check_urls(field, &urls, &mut faults);
        Some(urls)
    };
    let cdps = urls("cdps", body.cdps);
    let aia_ocsp_urls = urls("aiaOcspUrls", body.aia_ocsp_urls);
    let aia_issuer_urls = urls("aiaIssuerUrls", body.aia_issuer_urls);
    faults.finish()?;
    let name = body.name;
    let wanted = LocalCaChange { name, cdps, aia_ocsp_urls, aia_issuer_urls, status: None };
    item(&state, change(&state, by.username(), id, wanted).await?).await.map(Json)
}

/// Takes it out of use for a while: issuers on it get nothing signed until it is online again.
#[utoipa::path(
    post, path = "/admin/localca/{id}/offline", tag = "Local CAs", params(("id" = String, Path)),
    responses((status = 200, body = LocalCaItem), (status = "default", body = JsonError)),
)]
async fn offline(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::LocalCa>,
) -> Result<Json<LocalCaItem>, ApiError> {
    let offline = LocalCaChange { status: Some(LocalCaStatus::Offline), ..Default::default() };
    item(&state, change(&state, by.username(), id, offline).await?).await.map(Json)
}

/// Brings it back into use.
#[utoipa::path(
    post, path = "/admin/localca/{id}/online", tag = "Local CAs", params(("id" = String, Path)),
    responses((status = 200, body = LocalCaItem), (status = "default", body = JsonError)),
)]
async fn online(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::LocalCa>,
) -> Result<Json<LocalCaItem>, ApiError> {
    let online = LocalCaChange { status: Some(LocalCaStatus::Live), ..Default::default() };
    item(&state, change(&state, by.username(), id, online).await?).await.map(Json)
}
