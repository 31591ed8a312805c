//! Whose certificates are that no request of a user asked for: those of the CAs of the first start,
//! of the service itself, and of whatever the signer's journal names nobody for.

use chancery_shared::id::{Id, TeamId, UserId};

use crate::app::AppState;
use crate::store::StoreError;
use crate::store::account::{Account, Group};
use crate::store::team::Team;

/// The fact that teams and first administrator were made; its value is that user's id.
pub(super) const ADMINISTRATOR: &str = "first-start-accounts";

/// The fact that names the team of the administrators.
pub(super) const TEAM: &str = "first-start-administrators";

/// The first administrator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) user_id: UserId,
    pub(crate) username: String,
    pub(crate) team_id: TeamId,
}

/// The user and the team that the first start made, as long as they administer; else those who
/// have administered for the longest time. `None` where nobody does.
///
/// # Errors
///
/// Only if the database fails.
pub(crate) async fn owner(state: &AppState) -> Result<Option<Owner>, StoreError> {
    let Some(team_id) = administrators(state).await? else { return Ok(None) };
    let named = id_in(state, ADMINISTRATOR).await?;
    let memberships = state.store.memberships().await?;
    let teams = state.store.teams().await?;
    let administers = |account: &Account| {
        let is_member_of = |team: &Team| {
            memberships.iter().any(|m| m.team_id == team.id && m.user_id == account.id)
        };
        account.group == Group::Administrators
            || teams.iter().any(|team| is_administrators(team) && is_member_of(team))
    };
    let accounts = state.store.accounts().await?.into_iter().filter(administers);
    let first =
        accounts.min_by_key(|account| (Some(account.id) != named, account.created_at, account.id));
    Ok(first.map(|user| Owner { user_id: user.id, username: user.username, team_id }))
}

/// The team that CA certificates belong to, whoever asks for them.
///
/// # Errors
///
/// Only if the database fails.
pub(crate) async fn administrators(state: &AppState) -> Result<Option<TeamId>, StoreError> {
    let named = id_in(state, TEAM).await?;
    let teams = state.store.teams().await?.into_iter().filter(is_administrators);
    let first = teams.min_by_key(|team| (Some(team.id) != named, team.created_at, team.id));
    Ok(first.map(|team| team.id))
}

fn is_administrators(team: &Team) -> bool {
    team.internal_group == Group::Administrators
}

/// The id that a fact has as its value.
pub(super) async fn id_in<Kind>(
    state: &AppState,
    fact: &str,
) -> Result<Option<Id<Kind>>, StoreError> {
    Ok(state.store.fact(fact).await?.and_then(|id| id.parse().ok()))
}

#[cfg(test)]
mod tests;
