//! Where administrators stand themselves: nobody shuts themselves out by a team's list of addresses,
//! for it would be nobody's to undo.

use chancery_shared::id::{TeamId, UserId};

use crate::auth::Administrator;
use crate::auth::client_address::ClientAddress;
use crate::error::ApiError;
use crate::ip_white_list::IpWhiteList;
use crate::store::Write;

/// A list of addresses must not shut out the member who sets it.
///
/// # Errors
///
/// [`Code::InvalidRequest`](crate::error::Code::InvalidRequest) naming `ipWhiteList`.
pub fn check_list(
    by: &Administrator,
    from: ClientAddress,
    members: &[UserId],
    list: &str,
) -> Result<(), ApiError> {
    let problem = |message: String| ApiError::invalid_field("ipWhiteList", message);
    let list = IpWhiteList::read(list).map_err(|error| problem(error.to_string()))?;
    if !shuts_out(&list, from) || !members.contains(&by.actor().user_id()) {
        return Ok(());
    }
    Err(problem(format!(
        "would shut you out, a member who comes from {}; add that address, or leave the team first",
        words(from)
    )))
}

/// Who joins `teams` must come from an address that each of them allows, as the transaction sees them.
///
/// # Errors
///
/// [`Code::InvalidRequest`](crate::error::Code::InvalidRequest) naming `teamsIds`.
pub async fn check_teams(
    write: &mut Write,
    from: ClientAddress,
    teams: &[TeamId],
) -> Result<(), ApiError> {
    for id in teams {
        let Some(team) = write.team(*id).await? else { continue };
        let list = IpWhiteList::read(&team.ip_white_list).map_err(ApiError::internal)?;
        if shuts_out(&list, from) {
            let message = format!(
                "would shut you out: the ipWhiteList of the team {} does not hold {}, which you come \
                 from; add that address there first, or leave the team out",
                team.name,
                words(from)
            );
            return Err(ApiError::invalid_field("teamsIds", message));
        }
    }
    Ok(())
}

fn shuts_out(list: &IpWhiteList, from: ClientAddress) -> bool {
    !list.is_empty() && !from.0.is_some_and(|address| list.holds(address))
}

fn words(from: ClientAddress) -> String {
    from.0.map_or_else(|| "an unknown address".to_owned(), |address| address.to_string())
}
