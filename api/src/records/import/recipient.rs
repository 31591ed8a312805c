//! Whose an imported certificate becomes, and which team's.

use chancery_shared::id::{TeamId, UserId};

use super::Import;
use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::records::permission::{Caller, NewOwner, team_named};
use crate::store::team::Team;

/// Who gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipient {
    pub(super) user_id: UserId,
    pub(super) username: String,
    pub(super) team_id: TeamId,
}

impl Recipient {
    /// The user and the team that the import names: without a user whoever brings it, without a
    /// team the user's only one.
    ///
    /// # Errors
    ///
    /// Names the field: [`Code::TeamRequired`], [`Code::NoTeam`], or that of [`Caller`].
    pub(super) async fn find(
        state: &AppState,
        inventory: &InventoryView,
        caller: &Caller,
        import: &Import<'_>,
    ) -> Result<Self, ApiError> {
        let own_id = caller.actor().user_id().to_string();
        let owner = NewOwner::named(state, inventory, import.owner.unwrap_or(&own_id)).await?;
        let team = match import.team {
            Some(id) => team_named(inventory, id).await?,
            None => only_team(&owner)?,
        };
        caller.check_may_give_to_team(&team)?;
        if owner.user_id() != caller.actor().user_id() {
            caller.check_may_give_to_user(&owner, team.id)?;
        }
        let username = owner.username().to_owned();
        Ok(Self { user_id: owner.user_id(), username, team_id: team.id })
    }
}

fn only_team(owner: &NewOwner) -> Result<Team, ApiError> {
    let username = owner.username();
    match owner.teams() {
        [team] => Ok(team.clone()),
        [] => Err(ApiError::refused_field(
            Code::NoTeam,
            "teamId",
            format!("the user {username} belongs to no team; name the certificate's team"),
        )),
        several => {
            let names: Vec<_> = several.iter().map(|team| team.name.as_str()).collect();
            let names = names.join(", ");
            let message = format!(
                "the user {username} belongs to several teams ({names}); name one by its id"
            );
            Err(ApiError::refused_field(Code::TeamRequired, "teamId", message))
        }
    }
}
