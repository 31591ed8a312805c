//! `/currentuser/apitokens`, and the same of a user for administrators.

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use chancery_shared::id::{RowId, UserId, kind};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::api_token::{ApiTokenItem, MadeApiToken, NewApiToken};
use super::login::uncached;
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::{Actor, Administrator, Authenticated};
use crate::error::{ApiError, JsonError};
use crate::inventory::api_token;
use crate::json::Json;
use crate::request::PathId;

/// A user's own tokens.
pub fn member_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list_own, create_own)).routes(routes!(delete_own))
}

/// Those of any user, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(delete))
}

/// The user's own API tokens, oldest first, without their secrets.
#[utoipa::path(
    get, path = "/currentuser/apitokens", tag = "API tokens",
    responses((status = 200, body = Vec<ApiTokenItem>), (status = "default", body = JsonError)),
)]
async fn list_own(
    State(state): State<AppState>,
    actor: Actor,
) -> Result<Json<Vec<ApiTokenItem>>, ApiError> {
    items(&state, actor.user_id()).await
}

/// Makes an API token that acts as the user. Its text is shown here and never again.
#[utoipa::path(
    post, path = "/currentuser/apitokens", tag = "API tokens", request_body = NewApiToken,
    responses((status = 200, body = MadeApiToken), (status = "default", body = JsonError)),
)]
async fn create_own(
    State(state): State<AppState>,
    caller: Authenticated,
    actor: Actor,
    Json(new): Json<NewApiToken>,
) -> Result<Response, ApiError> {
    caller.check_logged_in()?;
    make(&state, actor.username(), actor.user_id(), new).await
}

/// Ends one of the user's own API tokens at once.
#[utoipa::path(
    delete, path = "/currentuser/apitokens/{id}", tag = "API tokens",
    params(("id" = String, Path)),
    responses((status = 200, body = ApiTokenItem), (status = "default", body = JsonError)),
)]
async fn delete_own(
    State(state): State<AppState>,
    actor: Actor,
    PathId(id): PathId<kind::Row>,
) -> Result<Json<ApiTokenItem>, ApiError> {
    let ended = api_token::delete(&state, actor.username(), actor.user_id(), id).await?;
    Ok(Json(ApiTokenItem::from(&ended)))
}

/// The API tokens of a user, oldest first, without their secrets.
#[utoipa::path(
    get, path = "/admin/users/{id}/apitokens", tag = "API tokens", params(("id" = String, Path)),
    responses((status = 200, body = Vec<ApiTokenItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(user): PathId<kind::User>,
) -> Result<Json<Vec<ApiTokenItem>>, ApiError> {
    items(&state, user).await
}

/// Makes an API token that acts as a user. Its text is shown here and never again.
#[utoipa::path(
    post, path = "/admin/users/{id}/apitokens", tag = "API tokens", params(("id" = String, Path)),
    request_body = NewApiToken,
    responses((status = 200, body = MadeApiToken), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    caller: Authenticated,
    by: Administrator,
    PathId(user): PathId<kind::User>,
    Json(new): Json<NewApiToken>,
) -> Result<Response, ApiError> {
    caller.check_logged_in()?;
    make(&state, by.username(), user, new).await
}

/// Ends an API token of a user at once.
#[utoipa::path(
    delete, path = "/admin/users/{id}/apitokens/{tokenId}", tag = "API tokens",
    params(("id" = String, Path), ("tokenId" = String, Path)),
    responses((status = 200, body = ApiTokenItem), (status = "default", body = JsonError)),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<ApiTokenItem>, ApiError> {
    let missing = || ApiError::not_found("API token");
    let Path((user, id)) = path.map_err(|_| missing())?;
    let user: UserId = user.parse().map_err(|_| missing())?;
    let id: RowId = id.parse().map_err(|_| missing())?;
    let ended = api_token::delete(&state, by.username(), user, id).await?;
    Ok(Json(ApiTokenItem::from(&ended)))
}

async fn items(state: &AppState, user: UserId) -> Result<Json<Vec<ApiTokenItem>>, ApiError> {
    let tokens = api_token::list(state, user).await?;
    Ok(Json(tokens.iter().map(ApiTokenItem::from).collect()))
}

async fn make(
    state: &AppState,
    by: &str,
    user: UserId,
    new: NewApiToken,
) -> Result<Response, ApiError> {
    let mut faults = Faults::default();
    faults.check_name("name", &new.name, 100);
    faults.finish()?;
    let (made, text) = api_token::create(state, by, user, new.name, new.valid_days).await?;
    let token = text.as_str().to_owned();
    Ok(uncached(Json(MadeApiToken { item: ApiTokenItem::from(&made), token })))
}
