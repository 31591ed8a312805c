//! Teams, as administrators change and delete them.

use chancery_shared::id::{CertIssuerId, TeamId, UserId};
use serde_json::Value;

use super::own_address;
use super::standing;
use super::user::check_administrators;
use crate::app::AppState;
use crate::audit::Item as _;
use crate::auth::Administrator;
use crate::auth::client_address::ClientAddress;
use crate::error::{ApiError, Code, Dependant};
use crate::inventory::settle;
use crate::reference::name_taken;
use crate::retention;
use crate::store::account::Group;
use crate::store::team::Team;

/// What is to change of a team; `None` stays as it is. Each value is sound by itself.
#[derive(Clone, Debug, Default)]
pub struct TeamChange {
    /// Its name among the teams.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether its members are administrators.
    pub internal_group: Option<Group>,
    /// All the issuers that are its own.
    pub authorised_cas: Option<Vec<CertIssuerId>>,
    /// No mail to its addresses when a certificate is issued.
    pub dont_send_emails_on_issue: Option<bool>,
    /// No mail to its addresses before a certificate expires.
    pub dont_send_reminder_emails: Option<bool>,
    /// Addresses its members may come from.
    pub ip_white_list: Option<String>,
    /// All its members.
    pub members: Option<Vec<UserId>>,
}

/// Changes a team.
///
/// # Errors
///
/// [`Code::NotFound`], [`Code::NameTaken`]; [`Code::NotPermitted`] where administrators change their
/// own role, or an API token makes one; [`Code::InvalidRequest`] where the list of addresses
/// would shut out who sets it; [`Code::InUse`] where an issuer would be left open to every team;
/// [`Code::LastAdministrator`]. Nothing has changed then.
pub async fn change(
    state: &AppState,
    by: &Administrator,
    from: ClientAddress,
    id: TeamId,
    change: TeamChange,
) -> Result<(), ApiError> {
    let (mut write, planned) =
        retention::holding(state, plan(state, by, from, id, &change)).await?;
    let Planned { fields_before, after, issuers, members } = planned;
    write.update_team(&after).await?;
    if change.authorised_cas.is_some() {
        write.withdraw_cas_of(id).await?;
        for issuer in &issuers {
            write.authorise_ca(id, *issuer).await?;
        }
    }
    if change.members.is_some() {
        write.remove_members(id).await?;
        for member in &members {
            write.add_member(id, *member).await?;
        }
    }
    let what = format!("the members of {} would no longer be", after.name);
    check_administrators(&mut write, &what).await?;
    let entry = state.audited("change", "teams").made(&(&after, &issuers[..], &members[..]));
    write.commit(entry.before(fields_before)).await?;
    tracing::info!(administrator = by.username(), team.id = %id, "changed a team");
    if change.may_take_away() {
        settle(state).await;
    }
    Ok(())
}

/// What is to be written, and what the audit says of it.
struct Planned {
    fields_before: Value,
    after: Team,
    issuers: Vec<CertIssuerId>,
    members: Vec<UserId>,
}

/// Looks at the team as it is and says what becomes of it.
async fn plan(
    state: &AppState,
    by: &Administrator,
    from: ClientAddress,
    id: TeamId,
    change: &TeamChange,
) -> Result<Planned, ApiError> {
    let before = find(state, id).await?;
    if let Some(name) = change.name.as_ref().filter(|name| **name != before.name)
        && state.store.team_named(name).await?.is_some()
    {
        return Err(name_taken::<Team>("name", name));
    }
    if let Some(issuers) = &change.authorised_cas {
        check_not_opened(state, &before, issuers).await?;
    }
    let issuers: Vec<_> =
        state.store.authorised_cas_of(id).await?.iter().map(|pair| pair.cert_issuer_id).collect();
    let members: Vec<_> =
        state.store.members_of(id).await?.iter().map(|member| member.user_id).collect();
    let fields_before = (&before, &issuers[..], &members[..]).fields();
    let before_group = before.internal_group;
    let after = change.clone().applied_to(before);
    let administrators = administrators_of(before_group, &members).to_vec();
    let members = change.members.clone().unwrap_or(members);
    standing::check_members(
        by,
        &administrators,
        administrators_of(after.internal_group, &members),
    )?;
    let issuers = change.authorised_cas.clone().unwrap_or(issuers);
    own_address::check_list(by, from, &members, &after.ip_white_list)?;
    if before_group == Group::Administrators && after.internal_group != Group::Administrators {
        check_not_last(state, &after).await?;
    }
    Ok(Planned { fields_before, after, issuers, members })
}

impl TeamChange {
    /// Whether someone may be let in no more: a new name and the like take nothing away.
    fn may_take_away(&self) -> bool {
        self.members.is_some()
            || self.authorised_cas.is_some()
            || self.internal_group.is_some()
            || self.ip_white_list.is_some()
    }

    /// All of the team but its issuers and members.
    fn applied_to(self, before: Team) -> Team {
        Team {
            name: self.name.unwrap_or(before.name),
            description: self.description.unwrap_or(before.description),
            internal_group: self.internal_group.unwrap_or(before.internal_group),
            dont_send_emails_on_issue: self
                .dont_send_emails_on_issue
                .unwrap_or(before.dont_send_emails_on_issue),
            dont_send_reminder_emails: self
                .dont_send_reminder_emails
                .unwrap_or(before.dont_send_reminder_emails),
            ip_white_list: self.ip_white_list.unwrap_or(before.ip_white_list),
            ..before
        }
    }
}

/// Deletes a team that has no members, issuers and certificates.
///
/// # Errors
///
/// [`Code::NotFound`], [`Code::InUse`] or [`Code::LastAdministrator`]; nothing has changed then.
pub async fn delete(state: &AppState, by: &Administrator, id: TeamId) -> Result<(), ApiError> {
    let (mut write, team) = retention::holding(state, unused(state, id)).await?;
    write.delete_team(id).await?;
    let entry = state.audited("delete", "teams").removed(&(&team, &[][..], &[][..]));
    write.commit(entry).await?;
    tracing::info!(administrator = by.username(), team.id = %id, "deleted a team");
    Ok(())
}

/// Those of `members` who are administrators by a team of this kind: all or none.
pub fn administrators_of(group: Group, members: &[UserId]) -> &[UserId] {
    match group {
        Group::Administrators => members,
        Group::Users => &[],
    }
}

/// The team, if it can go.
async fn unused(state: &AppState, id: TeamId) -> Result<Team, ApiError> {
    let team = find(state, id).await?;
    let dependants = dependants(state, id).await?;
    if !dependants.is_empty() {
        let message = format!(
            "the team {} is in use; take its members, issuers and certificates away first",
            team.name
        );
        return Err(ApiError::refused(Code::InUse, message).with_dependants(dependants));
    }
    if team.internal_group == Group::Administrators {
        check_not_last(state, &team).await?;
    }
    Ok(team)
}

async fn find(state: &AppState, id: TeamId) -> Result<Team, ApiError> {
    state.store.team(id).await?.ok_or_else(|| ApiError::not_found("team"))
}

/// What stands in the way of deletion, the first of each kind.
async fn dependants(state: &AppState, id: TeamId) -> Result<Vec<Dependant>, ApiError> {
    let mut found = Vec::new();
    let mut add = |kind: &str, id: String, name: String| {
        found.push(Dependant { kind: kind.to_owned(), id, name });
    };
    for member in state.store.members_of(id).await?.iter().take(FIRST) {
        let account = state.store.account(member.user_id).await?;
        let name = account.map(|account| account.username).unwrap_or_default();
        add("users", member.user_id.to_string(), name);
    }
    // A deleted one may be restored, and would be open to every team then.
    for pair in state.store.authorised_cas_ever_of(id).await?.iter().take(FIRST) {
        let issuer = state.store.cert_issuer(pair.cert_issuer_id).await?;
        let name = issuer.map(|issuer| issuer.name).unwrap_or_default();
        add("ca", pair.cert_issuer_id.to_string(), name);
    }
    for (certificate, name) in state.store.first_certificates_of_team(id).await? {
        add("certs", certificate, name);
    }
    Ok(found)
}

/// An issuer without any team is open to every one: it must not become so by the way.
async fn check_not_opened(
    state: &AppState,
    team: &Team,
    kept: &[CertIssuerId],
) -> Result<(), ApiError> {
    let mut opened = Vec::new();
    for pair in state.store.authorised_cas_of(team.id).await? {
        let id = pair.cert_issuer_id;
        if kept.contains(&id) || state.store.authorised_teams_of(id).await?.len() > 1 {
            continue;
        }
        let issuer = state.store.cert_issuer(id).await?;
        let name = issuer.map(|issuer| issuer.name).unwrap_or_default();
        opened.push(Dependant { kind: "ca".to_owned(), id: id.to_string(), name });
    }
    if opened.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the team {} is the only one of some issuers, and without any team they would be open to \
         every one; give them another team first, or open them at the issuer",
        team.name
    );
    Err(ApiError::refused(Code::InUse, message).with_dependants(opened))
}

/// What no user asked for, such as the certificates of CAs, belongs to a team of the administrators.
async fn check_not_last(state: &AppState, team: &Team) -> Result<(), ApiError> {
    let teams = state.store.teams().await?;
    let is_other =
        |other: &Team| other.id != team.id && other.internal_group == Group::Administrators;
    if teams.iter().any(is_other) {
        return Ok(());
    }
    let message = format!(
        "{} is the last team of the administrators; make another one ADMIN first",
        team.name
    );
    Err(ApiError::refused(Code::LastAdministrator, message))
}

/// So many dependants of a kind are told.
const FIRST: usize = 10;
