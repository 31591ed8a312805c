//! The user who is logged in.

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::login::{CurrentUser, PasswordChange};
use super::json::team::MyTeam;
use super::json::{Done, Group};
use crate::app::AppState;
use crate::auth::attempt::{Attempt, obstacle};
use crate::auth::bearer::BearerError;
use crate::auth::client_address::ClientAddress;
use crate::auth::{Actor, Authenticated};
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::store::account::PassedLogin;

/// What any user may ask about themselves.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(current_user))
        .routes(routes!(my_teams))
        .routes(routes!(my_issuers))
}

/// The change of the password, which is open to who must change it.
pub fn password_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(change_password))
}

/// The user that the token belongs to.
#[utoipa::path(
    get, path = "/currentuser", tag = "Current user",
    responses((status = 200, body = CurrentUser), (status = "default", body = JsonError)),
)]
async fn current_user(
    State(state): State<AppState>,
    actor: Actor,
) -> Result<Json<CurrentUser>, ApiError> {
    let account = state.store.account(actor.user_id()).await?.ok_or(BearerError::Invalid)?;
    let memberships = state.store.memberships_of(actor.user_id()).await?;
    Ok(Json(CurrentUser {
        id: account.id,
        username: account.username,
        email: account.email,
        group: if actor.is_administrator() { Group::Admin } else { Group::User },
        teams_ids: memberships.iter().map(|membership| membership.team_id).collect(),
    }))
}

/// The teams of the user.
#[utoipa::path(
    get, path = "/currentuser/myteams", tag = "Current user",
    responses((status = 200, body = Vec<MyTeam>), (status = "default", body = JsonError)),
)]
async fn my_teams(
    State(state): State<AppState>,
    actor: Actor,
) -> Result<Json<Vec<MyTeam>>, ApiError> {
    let mut teams = Vec::new();
    for team in state.store.teams_of(actor.user_id()).await? {
        let issuers = state.store.authorised_cas_of(team.id).await?;
        let issuers = issuers.iter().map(|pair| pair.cert_issuer_id).collect();
        teams.push(MyTeam::new(team, issuers));
    }
    Ok(Json(teams))
}

/// The names of the Certificate Issuers that the user may use.
#[utoipa::path(
    get, path = "/currentuser/myissuers", tag = "Current user",
    responses((status = 200, body = Vec<String>), (status = "default", body = JsonError)),
)]
async fn my_issuers(
    State(state): State<AppState>,
    actor: Actor,
) -> Result<Json<Vec<String>>, ApiError> {
    let names = if actor.is_administrator() {
        state.store.live_issuer_names().await?
    } else {
        state.store.usable_issuer_names(actor.user_id()).await?
    };
    Ok(Json(names))
}

/// Changes the password and ends every token of the user, this one too.
#[utoipa::path(
    post, path = "/currentuser/password", tag = "Current user", request_body = PasswordChange,
    responses((status = 200, body = Done), (status = "default", body = JsonError)),
)]
async fn change_password(
    State(state): State<AppState>,
    caller: Authenticated,
    address: ClientAddress,
    Json(change): Json<PasswordChange>,
) -> Result<Json<Done>, ApiError> {
    caller.check_logged_in()?;
    let inventory = state.inventory.now(&state.store).await?;
    let attempt = Attempt::begin(&state, &inventory, address).await?;
    let account = state.store.account(caller.user_id()).await?.ok_or(BearerError::Invalid)?;
    let old = account.password_hash.clone();
    let is_same = change.old_password == change.new_password;
    if !state.passwords.verify(address, change.old_password, Some(old)).await? {
        return Err(attempt.wrong(Some(&account)).await?);
    }
    // Who holds a stolen token must not guess here what a login would not let them guess.
    if let Some(why) = obstacle(&account, address, state.clock.now()) {
        return Err(attempt.in_vain(&account, why).await?);
    }
    change
        .new_password
        .check_new(attempt.settings().password_length)
        .map_err(|error| ApiError::invalid_field("newPassword", error.to_string()))?;
    if is_same {
        return Err(ApiError::invalid_field("newPassword", "must differ from the old one"));
    }
    let hash = state.passwords.hash(change.new_password).await?;
    let (at, address) = (state.clock.now(), address.text());
    let passed = PassedLogin { at, address, version: account.token_version };
    let mut write = state.store.begin().await?;
    // Of many guesses at once the right one may be the last that began before the lock.
    if !write.set_password(account.id, &passed, &hash).await? {
        write.let_go().await?;
        return Err(attempt.in_vain(&account, "the user was changed meanwhile").await?);
    }
    let entry = state.audited("password", "users").on(&account.id, &account.username);
    write.commit(entry).await?;
    tracing::info!(username = account.username, "changed the password");
    Ok(Json(Done {}))
}
