//! The team rule: every certificate belongs to a team of the user who asks for it.

use chancery_shared::id::UserId;

use crate::auth::Actor;
use crate::auth::client_address::ClientAddress;
use crate::error::{ApiError, Code};
use crate::inventory::view::InventoryView;
use crate::ip_white_list::IpWhiteList;
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

/// Whether `user` may come from this address: every team of the user that has a list must hold it.
///
/// # Errors
///
/// [`Code::AddressNotAllowed`] where one does not, and where the address is not known.
pub async fn check_address(
    inventory: &InventoryView,
    user: UserId,
    address: ClientAddress,
) -> Result<(), ApiError> {
    for team in inventory.teams_of(user).await?.iter() {
        // Most teams have none.
        if team.ip_white_list.is_empty() {
            continue;
        }
        let list = IpWhiteList::read(&team.ip_white_list).map_err(ApiError::internal)?;
        let is_allowed = address.0.is_some_and(|address| list.holds(address));
        if !list.is_empty() && !is_allowed {
            let message = format!(
                "the team {} does not let its members come from {}; come from an address of its \
                 list",
                team.name,
                address.0.map_or_else(|| "an unknown address".to_owned(), |it| it.to_string()),
            );
            return Err(ApiError::refused(Code::AddressNotAllowed, message));
        }
    }
    Ok(())
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
