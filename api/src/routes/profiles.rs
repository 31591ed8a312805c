//! `/admin/profiles`.

use axum::extract::State;
use chancery_shared::id::kind;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::profile::{NewProfile, ProfileItem};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::inventory::profile;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::json::Json;
use crate::request::PathId;

/// Profiles, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(one, change, delete))
}

/// All profiles, by name.
#[utoipa::path(
    get, path = "/admin/profiles", tag = "Profiles",
    responses((status = 200, body = Vec<ProfileItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<ProfileItem>>, ApiError> {
    Ok(Json(state.store.profiles().await?.into_iter().map(ProfileItem::from).collect()))
}

/// One profile.
#[utoipa::path(
    get, path = "/admin/profiles/{id}", tag = "Profiles", params(("id" = String, Path)),
    responses((status = 200, body = ProfileItem), (status = "default", body = JsonError)),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::Profile>,
) -> Result<Json<ProfileItem>, ApiError> {
    Ok(Json(profile::find(&state, id).await?.into()))
}

/// Makes a profile.
#[utoipa::path(
    post, path = "/admin/profiles", tag = "Profiles", request_body = NewProfile,
    responses((status = 200, body = ProfileItem), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    Json(new): Json<NewProfile>,
) -> Result<Json<ProfileItem>, ApiError> {
    let (name, definition) = sound(new)?;
    Ok(Json(profile::create(&state, by.username(), name, definition).await?.into()))
}

/// Changes a profile, for the requests that come from now on: all fields are given anew.
#[utoipa::path(
    put, path = "/admin/profiles/{id}", tag = "Profiles", params(("id" = String, Path)),
    request_body = NewProfile,
    responses((status = 200, body = ProfileItem), (status = "default", body = JsonError)),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::Profile>,
    Json(new): Json<NewProfile>,
) -> Result<Json<ProfileItem>, ApiError> {
    let (name, definition) = sound(new)?;
    Ok(Json(profile::change(&state, by.username(), id, name, definition).await?.into()))
}

/// Deletes a profile that no issuer has.
#[utoipa::path(
    delete, path = "/admin/profiles/{id}", tag = "Profiles", params(("id" = String, Path)),
    responses((status = 200, body = ProfileItem), (status = "default", body = JsonError)),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::Profile>,
) -> Result<Json<ProfileItem>, ApiError> {
    Ok(Json(profile::delete(&state, by.username(), id).await?.into()))
}

fn sound(new: NewProfile) -> Result<(String, ProfileDefinition), ApiError> {
    let (name, definition) = new.into_parts();
    let mut faults = Faults::default();
    faults.check_name("name", &name, 100);
    faults.finish()?;
    Ok((name, definition))
}
