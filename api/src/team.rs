//! The team rule: every certificate belongs to a team of the user who asks for it.

use crate::auth::Actor;
use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::reference::{Field, agreed};
use crate::store::team::Team;

/// A user together with the team that a request belongs to. Only [`resolve`] makes one.
///
/// ```compile_fail
/// let forged = chancery_api::team::Member { actor: todo!(), team: todo!() };
/// ```
#[derive(Clone, Debug)]
pub struct Member {
    actor: Actor,
    team: Team,
}

impl Member {
    /// The user.
    pub fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The team, of which the user is a member.
    pub fn team(&self) -> &Team {
        &self.team
    }
}

/// The team that a request names, by name, by id, by both or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeamChoice {
    /// `teamName`.
    pub name: Option<String>,
    /// `teamId`.
    pub id: Option<String>,
}

/// Finds the team for a request of `actor`. Without a choice it is the user's only one.
///
/// # Errors
///
/// [`Code::TeamRequired`] where there are several and none is named, [`Code::NoTeam`] where there
/// is none, [`Code::UnknownTeam`], [`Code::NotAMember`], or [`Code::InvalidRequest`] where name
/// and id disagree.
pub async fn resolve(
    inventory: &InventoryView,
    actor: Actor,
    choice: &TeamChoice,
) -> Result<Member, ApiError> {
    let teams = inventory.teams_of(actor.user_id()).await?;
    let fields = [
        Field::Either("teamName", choice.name.as_deref()),
        Field::Id("teamId", choice.id.as_deref()),
    ];
    let named: Option<(_, Team)> = agreed(inventory, Code::UnknownTeam, &fields).await?;
    let Some((field, named)) = named else {
        return match teams.as_slice() {
            [] => Err(no_team()),
            [team] => Ok(Member { actor, team: team.clone() }),
            several => Err(choose(several)),
        };
    };
    match teams.iter().find(|team| team.id == named.id) {
        Some(team) => Ok(Member { actor, team: team.clone() }),
        None => Err(ApiError::refused_field(
            Code::NotAMember,
            field,
            format!("you are no member of the team {}; name one of yours", named.name),
        )),
    }
}

fn no_team() -> ApiError {
    ApiError::refused(
        Code::NoTeam,
        "you belong to no team, and every certificate belongs to one; ask an administrator",
    )
}

fn choose(teams: &[Team]) -> ApiError {
    let names: Vec<_> = teams.iter().map(|team| team.name.as_str()).collect();
    ApiError::refused_field(
        Code::TeamRequired,
        "teamName",
        format!("you belong to several teams; name one of them: {}", names.join(", ")),
    )
}
