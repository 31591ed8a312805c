//! `/admin/users`.

use std::collections::HashMap;

use axum::extract::State;
use chancery_shared::id::{TeamId, UserId, kind};
use time::OffsetDateTime;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::Group;
use super::json::user::{NewUser, UserItem};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::echo::cut;
use crate::error::{ApiError, Code, JsonError};
use crate::json::Json;
use crate::request::PathId;
use crate::store::account::Account;
use crate::store::team::Team;

/// Users, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(one))
}

/// All users, by name.
#[utoipa::path(
    get, path = "/admin/users", tag = "Users",
    responses((status = 200, body = Vec<UserItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<UserItem>>, ApiError> {
    let mut teams: HashMap<UserId, Vec<TeamId>> = HashMap::new();
    for membership in state.store.memberships().await? {
        teams.entry(membership.user_id).or_default().push(membership.team_id);
    }
    let item = |account: Account| {
        let teams = teams.remove(&account.id).unwrap_or_default();
        UserItem::new(account, teams)
    };
    Ok(Json(state.store.accounts().await?.into_iter().map(item).collect()))
}

/// One user.
#[utoipa::path(
    get, path = "/admin/users/{id}", tag = "Users", params(("id" = String, Path)),
    responses((status = 200, body = UserItem), (status = "default", body = JsonError)),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::User>,
) -> Result<Json<UserItem>, ApiError> {
    read(&state, id).await.map(Json)
}

/// Makes a user.
#[utoipa::path(
    post, path = "/admin/users", tag = "Users", request_body = NewUser,
    responses((status = 200, body = UserItem), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    Json(new): Json<NewUser>,
) -> Result<Json<UserItem>, ApiError> {
    let mut faults = Faults::default();
    faults.check_name("username", &new.username, 64);
    if let Some(email) = &new.email {
        faults.check_email("email", email);
    }
    if let Err(error) = new.password.check_length(state.config.password_min_length) {
        faults.add("password", error.to_string());
    }
    let teams = faults.references::<Team>(&state, "teamsIds", &new.teams_ids).await?;
    faults.finish()?;
    if state.store.account_named(&new.username).await?.is_some() {
        return Err(name_taken(&new.username));
    }
    let account = Account {
        id: state.new_id(),
        username: new.username,
        email: new.email.unwrap_or_default(),
        group: new.group.unwrap_or(Group::User).into(),
        enabled: new.enabled.unwrap_or(true),
        must_change_password: new.must_change_password.unwrap_or_default(),
        password_hash: state.passwords.hash(new.password).await?,
        token_version: 1,
        failed_logins: 0,
        delayed_until: OffsetDateTime::UNIX_EPOCH,
        locked: false,
        last_login_at: None,
        last_login_address: None,
        created_at: state.clock.now(),
        created_by: by.username().to_owned(),
    };
    let mut write = state.store.begin().await?;
    write.insert_account(&account).await?;
    for team in &teams {
        write.add_member(*team, account.id).await?;
    }
    let entry = state.audited("create", "users").made(&(&account, &teams[..]));
    write.commit(entry).await?;
    tracing::info!(administrator = by.username(), user.id = %account.id, "made a user");
    read(&state, account.id).await.map(Json)
}

async fn read(state: &AppState, id: UserId) -> Result<UserItem, ApiError> {
    let account = state.store.account(id).await?.ok_or_else(|| ApiError::not_found("user"))?;
    let memberships = state.store.memberships_of(id).await?;
    let teams = memberships.iter().map(|membership| membership.team_id).collect();
    Ok(UserItem::new(account, teams))
}

fn name_taken(name: &str) -> ApiError {
    let message = format!(
        "there is a user {} already, in one case or another; choose another name",
        cut(name)
    );
    ApiError::refused_field(Code::NameTaken, "username", message)
}
