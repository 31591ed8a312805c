//! Login and logout.

use axum::extract::State;
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
use crate::auth::actor::HeldToken;
use crate::auth::attempt::{Attempt, obstacle};
use crate::auth::client_address::ClientAddress;
use crate::error::{ApiError, JsonError};
use crate::inventory::api_token;
use crate::json::Json;
use crate::store::account::PassedLogin;
use crate::team;

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
    address: ClientAddress,
    Json(request): Json<LoginRequest>,
) -> Result<Response, ApiError> {
    let inventory = state.inventory.now(&state.store).await?;
    let attempt = Attempt::begin(&state, &inventory, address).await?;
    let account = state.store.account_named(&request.username).await?;
    let hash = account.as_ref().map(|account| account.password_hash.clone());
    let matches = state.passwords.verify(address, request.password, hash).await?;
    if let Some(account) = &account {
        // Only of a user who exists: others may have typed their password into the wrong field.
        audit::name_subject(&account.id, &account.username);
    }
    let account = match account {
        Some(account) if matches => account,
        other => return Err(attempt.wrong(other.as_ref()).await?),
    };
    let now = state.clock.now();
    if let Some(why) = obstacle(&account, address, now) {
        return Err(attempt.in_vain(&account, why).await?);
    }
    if team::check_address(&inventory, account.id, address).await.is_err() {
        return Err(attempt.in_vain(&account, "a team does not allow the address").await?);
    }
    let version = account.token_version;
    let passed = PassedLogin { at: now, address: address.text(), version };
    let mut write = state.store.begin().await?;
    let holds = write.record_login(account.id, &passed).await?;
    if !holds {
        write.let_go().await?;
        return Err(attempt.in_vain(&account, "the user was changed meanwhile").await?);
    }
    let (id, name) = (account.id, &account.username);
    let entry = state.audited("login", "users").by(id, name).on(&id, name);
    write.commit_beside_inventory(entry).await?;
    let lifetime = attempt.settings().token_lifetime.length();
    let token = state
        .tokens
        .issue(account.id, version, state.new_id(), now, lifetime)
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
    let (id, name) = caller.user();
    let claims = match caller.token() {
        HeldToken::Login(claims) => claims,
        HeldToken::Machine(token) => {
            api_token::delete(state, name, id, token).await?;
            return Ok(Json(Done {}));
        }
    };
    let mut write = state.store.begin().await?;
    write.end_token(claims.jti, claims.expires_at()).await?;
    // A good moment: the table stays as small as the tokens that live.
    write.forget_expired_tokens(state.clock.now()).await?;
    write.commit(state.audited("logout", "users").on(&id, name)).await?;
    Ok(Json(Done {}))
}

/// The answer carries a secret: nothing on the way may keep it.
pub(super) fn uncached(answer: impl IntoResponse) -> Response {
    let mut response = answer.into_response();
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
