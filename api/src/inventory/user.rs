//! Users, as administrators change and delete them.

use chancery_shared::id::{TeamId, UserId};

use super::own_address;
use super::standing::{self, Standing};
use crate::app::AppState;
use crate::audit::{Item as _, with_new_password};
use crate::auth::Administrator;
use crate::auth::client_address::ClientAddress;
use crate::auth::password::Password;
use crate::error::{ApiError, Code};
use crate::inventory::settle;
use crate::retention;
use crate::store::Write;
use crate::store::account::{Account, Group};

/// What is to change of a user; `None` stays as it is. Each value is sound by itself.
#[derive(Debug, Default)]
pub struct UserChange {
    /// Where mail goes; may be empty.
    pub email: Option<String>,
    /// A new password.
    pub password: Option<Password>,
    /// Whether it is an administrator by itself.
    pub group: Option<Group>,
    /// Whether it may log in.
    pub enabled: Option<bool>,
    /// All its teams.
    pub teams: Option<Vec<TeamId>>,
    /// Whether it can do nothing but change its password.
    pub must_change_password: Option<bool>,
}

/// Changes a user. A new password, and being disabled, end its tokens.
///
/// # Errors
///
/// [`Code::NotFound`]; [`Code::NotPermitted`] where administrators change their own role or password so,
/// or an API token sets a password or gives someone the rights of an administrator;
/// [`Code::InvalidRequest`] where a team would shut out who joins it; [`Code::LastAdministrator`].
/// Nothing has changed then.
pub async fn change(
    state: &AppState,
    by: &Administrator,
    from: ClientAddress,
    id: UserId,
    change: UserChange,
) -> Result<(), ApiError> {
    if change.password.is_some() {
        standing::check_may_set_password(by, id)?;
    }
    let hash = match &change.password {
        Some(password) => Some(state.passwords.hash(password.clone()).await?),
        None => None,
    };
    let mut write = retention::begin_alone(state).await?;
    write.hold_account(id).await?;
    // As it is while it is held; by the connection that holds it, for others may all be waiting.
    let before = held(&mut write, id).await?;
    let teams_before = write.teams_of(id).await?;
    let of_administrators = write.teams_of_administrators().await?;
    let standing_before = Standing::new(&before, &teams_before, &of_administrators);
    let fields_before = (&before, &teams_before[..]).fields();
    let group_before = before.group;
    let is_new_password = hash.is_some();
    let ends_tokens = hash.is_some() || (before.enabled && change.enabled == Some(false));
    let after = Account {
        email: change.email.unwrap_or(before.email),
        group: change.group.unwrap_or(before.group),
        enabled: change.enabled.unwrap_or(before.enabled),
        must_change_password: change.must_change_password.unwrap_or(before.must_change_password),
        password_hash: hash.unwrap_or(before.password_hash),
        ..before
    };
    let teams_after = change.teams.as_deref().unwrap_or(&teams_before);
    let takes_away = ends_tokens
        || after.group != group_before
        || teams_before.iter().any(|team| !teams_after.contains(team));
    let standing = Standing::new(&after, teams_after, &of_administrators);
    let mut checked = check_change(by, &after, &standing_before, &standing);
    if checked.is_ok() && id == by.actor().user_id() && change.teams.is_some() {
        checked = own_address::check_teams(&mut write, from, teams_after).await;
    }
    if let Err(refused) = checked {
        write.let_go().await?;
        return Err(refused);
    }
    write.update_account(&after).await?;
    if change.teams.is_some() {
        write.leave_teams(id).await?;
        for team in teams_after {
            write.add_member(*team, id).await?;
        }
    }
    if ends_tokens {
        write.end_tokens_of(id).await?;
    }
    let username = &after.username;
    check_administrators(&mut write, &format!("the user {username} would no longer be one"))
        .await?;
    let fields = (&after, teams_after).fields();
    let fields = if is_new_password { with_new_password(fields) } else { fields };
    let entry = state.audited("change", "users").on(&id, &after.username);
    write.commit(entry.before(fields_before).after(fields)).await?;
    tracing::info!(administrator = by.username(), user.id = %id, "changed a user");
    if takes_away {
        settle(state).await;
    }
    Ok(())
}

/// Deletes a user, and ends its tokens. Its certificates stay, under its name.
///
/// # Errors
///
/// [`Code::NotFound`], [`Code::NotPermitted`] for oneself, or [`Code::LastAdministrator`]; nothing
/// has changed then.
pub async fn delete(state: &AppState, by: &Administrator, id: UserId) -> Result<(), ApiError> {
    if id == by.actor().user_id() {
        return Err(not_permitted("you can't delete yourself; another administrator can"));
    }
    let mut write = retention::begin_alone(state).await?;
    write.hold_account(id).await?;
    let account = held(&mut write, id).await?;
    let teams = write.teams_of(id).await?;
    write.delete_account(id).await?;
    let username = &account.username;
    check_administrators(&mut write, &format!("the user {username} would be gone")).await?;
    write.commit(state.audited("delete", "users").removed(&(&account, &teams[..]))).await?;
    tracing::info!(administrator = by.username(), user.id = %id, "deleted a user");
    settle(state).await;
    Ok(())
}

/// Lets a user try to log in again.
///
/// # Errors
///
/// [`Code::NotFound`].
pub async fn unlock(state: &AppState, by: &Administrator, id: UserId) -> Result<(), ApiError> {
    let account = find(state, id).await?;
    let mut write = state.store.begin().await?;
    write.unlock(id).await?;
    write.commit(state.audited("unlock", "users").on(&id, &account.username)).await?;
    tracing::info!(administrator = by.username(), user.id = %id, "unlocked a user");
    Ok(())
}

/// The user of this id.
///
/// # Errors
///
/// [`Code::NotFound`].
pub async fn find(state: &AppState, id: UserId) -> Result<Account, ApiError> {
    state.store.account(id).await?.ok_or_else(|| ApiError::not_found("user"))
}

/// Someone must be able to administer the service after this transaction.
///
/// # Errors
///
/// [`Code::LastAdministrator`].
pub async fn check_administrators(write: &mut Write, what: &str) -> Result<(), ApiError> {
    if write.enabled_administrators().await? > 0 {
        return Ok(());
    }
    let message = format!(
        "there would be no enabled administrator left: {what}; make another administrator first"
    );
    Err(ApiError::refused(Code::LastAdministrator, message))
}

/// The user of this id, whose row the transaction holds.
///
/// # Errors
///
/// [`Code::NotFound`], or the database fails.
pub(super) async fn held(write: &mut Write, id: UserId) -> Result<Account, ApiError> {
    write.account(id).await?.ok_or_else(|| ApiError::not_found("user"))
}

fn check_change(
    by: &Administrator,
    after: &Account,
    standing_before: &Standing,
    standing: &Standing,
) -> Result<(), ApiError> {
    if after.id == by.actor().user_id() && !after.enabled {
        return Err(not_permitted("you can't disable yourself; another administrator can"));
    }
    Standing::check(by, after.id, Some(standing_before), standing)
}

fn not_permitted(message: &str) -> ApiError {
    ApiError::refused(Code::NotPermitted, message)
}
