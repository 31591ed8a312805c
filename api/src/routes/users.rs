//! `/admin/users`.

use std::collections::HashMap;

use axum::extract::State;
use chancery_shared::id::{TeamId, UserId, kind};
use time::OffsetDateTime;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::Group;
use super::json::user::{NewUser, UserChangeBody, UserItem};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::auth::client_address::ClientAddress;
use crate::echo::cut;
use crate::error::{ApiError, Code, JsonError};
use crate::inventory::standing::Standing;
use crate::inventory::user::{self, UserChange};
use crate::json::Json;
use crate::request::PathId;
use crate::retention;
use crate::settings::Settings;
use crate::store::account::Account;
use crate::store::audit::SYSTEM;
use crate::store::team::Team;

/// Users, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new()
        .routes(routes!(list, create))
        .routes(routes!(one, change, delete))
        .routes(routes!(unlock))
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
    let settings = Settings::read(&state.store).await?;
    let mut faults = Faults::default();
    faults.check_name("username", &new.username, 64);
    if new.username.to_lowercase() == SYSTEM {
        faults.add("username", "is what the audit calls the service itself; choose another name");
    }
    if let Some(email) = &new.email {
        faults.check_email("email", email);
    }
    if let Err(error) = new.password.check_new(settings.password_length) {
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
    let mut write = retention::begin_alone(&state).await?;
    let of_administrators = write.teams_of_administrators().await?;
    let standing = Standing::new(&account, &teams, &of_administrators);
    if let Err(refused) = Standing::check(&by, account.id, None, &standing) {
        write.let_go().await?;
        return Err(refused);
    }
    write.insert_account(&account).await?;
    for team in &teams {
        write.add_member(*team, account.id).await?;
    }
    let entry = state.audited("create", "users").made(&(&account, &teams[..]));
    write.commit(entry).await?;
    tracing::info!(administrator = by.username(), user.id = %account.id, "made a user");
    read(&state, account.id).await.map(Json)
}

/// Changes a user. A new password and being disabled end its tokens at once. Administrators change
/// neither their own group nor in which teams of administrators they are, nor do they disable
/// themselves; an API token changes no password and gives nobody the rights of an administrator.
#[utoipa::path(
    put, path = "/admin/users/{id}", tag = "Users", params(("id" = String, Path)),
    request_body = UserChangeBody,
    responses((status = 200, body = UserItem), (status = "default", body = JsonError)),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    from: ClientAddress,
    PathId(id): PathId<kind::User>,
    Json(body): Json<UserChangeBody>,
) -> Result<Json<UserItem>, ApiError> {
    let account = user::find(&state, id).await?;
    let mut faults = Faults::default();
    if body.username.is_some_and(|name| name != account.username) {
        faults.add("username", "can't be changed: records and logs tell the user by it");
    }
    if let Some(Some(email)) = &body.email {
        faults.check_email("email", email);
    }
    if let Some(password) = &body.password {
        let settings = Settings::read(&state.store).await?;
        if let Err(error) = password.check_new(settings.password_length) {
            faults.add("password", error.to_string());
        }
    }
    let teams = match body.teams_ids {
        Some(teams) => {
            let teams = teams.unwrap_or_default();
            Some(faults.references::<Team>(&state, "teamsIds", &teams).await?)
        }
        None => None,
    };
    faults.finish()?;
    let change = UserChange {
        email: body.email.map(Option::unwrap_or_default),
        password: body.password,
        group: body.group.map(Into::into),
        enabled: body.enabled,
        teams,
        must_change_password: body.must_change_password,
    };
    user::change(&state, &by, from, id, change).await?;
    read(&state, id).await.map(Json)
}

/// Deletes a user and ends its tokens at once. Its certificates stay, under its name.
#[utoipa::path(
    delete, path = "/admin/users/{id}", tag = "Users", params(("id" = String, Path)),
    responses((status = 200, body = UserItem), (status = "default", body = JsonError)),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::User>,
) -> Result<Json<UserItem>, ApiError> {
    let item = read(&state, id).await?;
    user::delete(&state, &by, id).await?;
    Ok(Json(item))
}

/// Lets a user whose account was locked or delayed log in again.
#[utoipa::path(
    post, path = "/admin/users/{id}/unlock", tag = "Users", params(("id" = String, Path)),
    responses((status = 200, body = UserItem), (status = "default", body = JsonError)),
)]
async fn unlock(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::User>,
) -> Result<Json<UserItem>, ApiError> {
    user::unlock(&state, &by, id).await?;
    read(&state, id).await.map(Json)
}

async fn read(state: &AppState, id: UserId) -> Result<UserItem, ApiError> {
    let account = user::find(state, id).await?;
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
