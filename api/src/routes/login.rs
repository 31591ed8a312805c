//! Login and logout.

use std::net::SocketAddr;

use axum::Extension;
use axum::extract::{ConnectInfo, State};
use axum::http::HeaderValue;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::Done;
use super::json::login::{LoginAnswer, LoginRequest};
use crate::app::AppState;
use crate::audit;
use crate::auth::Authenticated;
use crate::error::{ApiError, Code, JsonError};
use crate::json::Json;
use crate::store::Unaudited;
use crate::store::account::LoginOutcome;

/// `POST /login`, the one call without a token.
pub fn open_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(login))
}

/// The two ways to log out.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(logout)).routes(routes!(logout_here))
}

/// Logs in with a username and a password.
#[utoipa::path(
    post, path = "/login", tag = "Session", security(()), request_body = LoginRequest,
    responses((status = 200, body = LoginAnswer), (status = "default", body = JsonError)),
)]
async fn login(
    State(state): State<AppState>,
    address: Option<Extension<ConnectInfo<SocketAddr>>>,
    Json(request): Json<LoginRequest>,
) -> Result<Response, ApiError> {
    let account = state.store.account_named(&request.username).await?;
    let hash = account.as_ref().map(|account| account.password_hash.clone());
    let matches = state.passwords.verify(request.password, hash).await?;
    let Some(account) = account else {
        let mut write = state.store.begin().await?;
        write.record_login_of_nobody().await?;
        write.commit_unaudited(Unaudited::LoginCount).await?;
        return Err(bad_credentials());
    };
    // Only of a user who exists: others may have typed their password into the wrong field.
    audit::name_subject(&account.id, &account.username);
    let now = state.clock.now();
    let may_log_in = account.enabled && !account.locked && account.delayed_until <= now;
    let address = address.map_or_else(String::new, |Extension(ConnectInfo(address))| {
        address.ip().to_canonical().to_string()
    });
    let outcome = if matches && may_log_in {
        LoginOutcome::Passed { at: now, address }
    } else {
        LoginOutcome::Failed
    };
    let mut write = state.store.begin().await?;
    write.record_login(account.id, &outcome).await?;
    if outcome == LoginOutcome::Failed {
        write.commit_unaudited(Unaudited::LoginCount).await?;
        return Err(bad_credentials());
    }
    let (id, name) = (account.id, &account.username);
    let entry = state.audited("login", "users").by(id, name).on(&id, name);
    write.commit_beside_inventory(entry).await?;
    let token = state
        .tokens
        .issue(account.id, account.token_version, state.new_id(), now)
        .ok_or_else(|| ApiError::internal("there is no key to sign a token with"))?;
    let answer = LoginAnswer {
        username: account.username,
        token,
        must_change_password: account.must_change_password,
    };
    Ok(uncached(Json(answer)))
}

/// Ends the session of this token.
#[utoipa::path(
    post, path = "/logout", tag = "Session",
    responses((status = 200, body = Done), (status = "default", body = JsonError)),
)]
async fn logout(
    State(state): State<AppState>,
    caller: Authenticated,
) -> Result<Json<Done>, ApiError> {
    end_token(&state, &caller).await
}

/// Ends the session of this token; deployed clients call this one.
#[utoipa::path(
    get, path = "/logouthere", tag = "Session",
    responses((status = 200, body = Done), (status = "default", body = JsonError)),
)]
async fn logout_here(
    State(state): State<AppState>,
    caller: Authenticated,
) -> Result<Json<Done>, ApiError> {
    end_token(&state, &caller).await
}

async fn end_token(state: &AppState, caller: &Authenticated) -> Result<Json<Done>, ApiError> {
    let claims = caller.claims();
    let mut write = state.store.begin().await?;
    write.end_token(claims.jti, claims.expires_at()).await?;
    // A good moment: the table stays as small as the tokens that live.
    write.forget_expired_tokens(state.clock.now()).await?;
    let (id, name) = caller.user();
    write.commit(state.audited("logout", "users").on(&id, name)).await?;
    Ok(Json(Done {}))
}

/// One answer for a wrong password, an unknown user and one who may not log in.
pub(super) fn bad_credentials() -> ApiError {
    ApiError::refused(Code::BadCredentials, "username or password is wrong")
}

/// The answer carries a secret: nothing on the way may keep it.
fn uncached(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
