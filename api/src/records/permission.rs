//! Who may change a record, and whom it may be given to.

use std::collections::BTreeSet;
use std::sync::Arc;

use chancery_shared::id::{TeamId, UserId};
use time::OffsetDateTime;

use crate::app::AppState;
use crate::auth::Actor;
use crate::echo::cut;
use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::reference;
use crate::retention;
use crate::settings::Settings;
use crate::store::Write;
use crate::store::account::Account;
use crate::store::certificate::Certificate;
use crate::store::team::Team;

/// A user with the teams that they are in at this moment.
#[derive(Clone, Debug)]
pub struct Caller {
    actor: Actor,
    teams: BTreeSet<TeamId>,
    settings: Arc<Settings>,
}

/// A user whom the caller wants to own a certificate.
#[derive(Clone, Debug)]
pub struct NewOwner {
    account: Account,
    teams: Vec<Team>,
}

impl Caller {
    /// Reads which teams `actor` is in.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn new(inventory: &InventoryView, actor: Actor) -> Result<Self, ApiError> {
        let teams = inventory.teams_of(actor.user_id()).await?;
        let teams = teams.iter().map(|team| team.id).collect();
        Ok(Self { teams, settings: inventory.settings().await?, actor })
    }

    /// The user.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Whether they may change or revoke `certificate`: its owner, members of its team and
    /// administrators may.
    pub fn may_change(&self, certificate: &Certificate) -> bool {
        self.actor.is_administrator()
            || certificate.owner_user_id == self.actor.user_id()
            || self.teams.contains(&certificate.team_id)
    }

    /// The same as a refusal.
    ///
    /// # Errors
    ///
    /// [`Code::NotPermitted`].
    pub fn check_may_change(&self, certificate: &Certificate) -> Result<(), ApiError> {
        if self.may_change(certificate) {
            return Ok(());
        }
        Err(ApiError::refused(
            Code::NotPermitted,
            "only the certificate's owner, a member of its team or an administrator may change it",
        ))
    }

    /// Whether the certificate's owner may be another: the right to download its private key goes
    /// with it, so where that is kept only the owner gives it away, or an administrator.
    ///
    /// # Errors
    ///
    /// [`Code::NotPermitted`].
    pub fn check_may_give_key_data(
        &self,
        certificate: &Certificate,
        now: OffsetDateTime,
    ) -> Result<(), ApiError> {
        let is_owner = certificate.owner_user_id == self.actor.user_id();
        let is_kept = certificate.has_key_data
            && !self.settings.retention.is_over(certificate.created_at, now);
        if !is_kept || is_owner || self.actor.is_administrator() {
            return Ok(());
        }
        Err(ApiError::refused_field(
            Code::NotPermitted,
            "ownerUserId",
            "the certificate's private key can still be downloaded by its owner; only the owner or \
             an administrator may give it to someone else",
        ))
    }

    /// Whether a certificate may be given to `team`: by administrators to any, by others to one of
    /// their own.
    ///
    /// # Errors
    ///
    /// [`Code::NotAMember`].
    pub fn check_may_give_to_team(&self, team: &Team) -> Result<(), ApiError> {
        if self.actor.is_administrator() || self.teams.contains(&team.id) {
            return Ok(());
        }
        let message = format!("you are no member of the team {}; name one of yours", team.name);
        Err(ApiError::refused_field(Code::NotAMember, "teamId", message))
    }

    /// Whether a certificate of `team` may be given to `owner`: by administrators to any enabled
    /// user, by others to an enabled member of the team.
    ///
    /// # Errors
    ///
    /// [`Code::NotPermitted`].
    pub fn check_may_give_to_user(&self, owner: &NewOwner, team: TeamId) -> Result<(), ApiError> {
        let username = &owner.account.username;
        let message = if !owner.account.enabled {
            format!("the user {username} is disabled; name one who is not")
        } else if self.actor.is_administrator() || owner.teams.iter().any(|it| it.id == team) {
            return Ok(());
        } else {
            format!(
                "the user {username} is no member of the certificate's team, and only an \
                 administrator gives certificates to others; name a member of the team"
            )
        };
        Err(ApiError::refused_field(Code::NotPermitted, "ownerUserId", message))
    }
}

impl NewOwner {
    /// The user that the field `ownerUserId` names.
    ///
    /// # Errors
    ///
    /// [`Code::UnknownReference`].
    pub async fn named(
        state: &AppState,
        inventory: &InventoryView,
        id: &str,
    ) -> Result<Self, ApiError> {
        let account: Option<Account> = reference::by_id(&state.store, id).await?;
        let account = account.ok_or_else(|| no_user(id))?;
        let teams = inventory.teams_of(account.id).await?.to_vec();
        Ok(Self { account, teams })
    }

    /// Their id.
    pub fn user_id(&self) -> UserId {
        self.account.id
    }

    /// Their name.
    pub fn username(&self) -> &str {
        &self.account.username
    }

    /// Their teams, by name.
    pub fn teams(&self) -> &[Team] {
        &self.teams
    }
}

/// Begins to write while neither the team nor the owner that a record is given to goes away.
///
/// # Errors
///
/// [`Code::UnknownTeam`] or [`Code::UnknownReference`] where one of them is gone, or the database
/// fails.
pub async fn begin_giving(
    state: &AppState,
    team: Option<TeamId>,
    owner: Option<UserId>,
) -> Result<Write, ApiError> {
    if team.is_none() && owner.is_none() {
        return Ok(state.store.begin().await?);
    }
    let both_there = async {
        if let Some(id) = team
            && state.store.team(id).await?.is_none()
        {
            return Err(no_team(&id.to_string()));
        }
        if let Some(id) = owner
            && state.store.account(id).await?.is_none()
        {
            return Err(no_user(&id.to_string()));
        }
        Ok(())
    };
    Ok(retention::holding(state, both_there).await?.0)
}

fn no_user(id: &str) -> ApiError {
    let message = format!("{} is not the id of a user", cut(id));
    ApiError::refused_field(Code::UnknownReference, "ownerUserId", message)
}

fn no_team(id: &str) -> ApiError {
    let message = format!("{} is not the id of a team", cut(id));
    ApiError::refused_field(Code::UnknownTeam, "teamId", message)
}

/// The team that the field `teamId` names.
///
/// # Errors
///
/// [`Code::UnknownTeam`].
pub async fn team_named(inventory: &InventoryView, id: &str) -> Result<Team, ApiError> {
    let team: Option<Team> = reference::by_id(inventory, id).await?;
    team.ok_or_else(|| no_team(id))
}
