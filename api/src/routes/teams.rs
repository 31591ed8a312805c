//! `/admin/teams`.

use std::collections::HashMap;

use axum::extract::State;
use chancery_shared::id::kind;
use chancery_shared::id::{CertIssuerId, TeamId, UserId};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::Group;
use super::json::team::{NewTeam, TeamChangeBody, TeamItem};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::auth::client_address::ClientAddress;
use crate::error::{ApiError, JsonError};
use crate::inventory::own_address;
use crate::inventory::standing;
use crate::inventory::team::{self, TeamChange};
use crate::ip_white_list::IpWhiteList;
use crate::json::Json;
use crate::reference::name_taken;
use crate::request::PathId;
use crate::retention;
use crate::store::account::Account;
use crate::store::cert_issuer::CertIssuer;
use crate::store::team::Team;

/// Teams, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(one, change, delete))
}

/// All teams, by name.
#[utoipa::path(
    get, path = "/admin/teams", tag = "Teams",
    responses((status = 200, body = Vec<TeamItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<TeamItem>>, ApiError> {
    let mut issuers: HashMap<TeamId, Vec<CertIssuerId>> = HashMap::new();
    for pair in state.store.authorised_cas().await? {
        issuers.entry(pair.team_id).or_default().push(pair.cert_issuer_id);
    }
    let mut members: HashMap<TeamId, Vec<UserId>> = HashMap::new();
    for membership in state.store.memberships().await? {
        members.entry(membership.team_id).or_default().push(membership.user_id);
    }
    let item = |team: Team| {
        let issuers = issuers.remove(&team.id).unwrap_or_default();
        let members = members.remove(&team.id).unwrap_or_default();
        TeamItem::new(team, issuers, members)
    };
    Ok(Json(state.store.teams().await?.into_iter().map(item).collect()))
}

/// One team.
#[utoipa::path(
    get, path = "/admin/teams/{id}", tag = "Teams", params(("id" = String, Path)),
    responses((status = 200, body = TeamItem), (status = "default", body = JsonError)),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::Team>,
) -> Result<Json<TeamItem>, ApiError> {
    read(&state, id).await.map(Json)
}

/// Makes a team.
#[utoipa::path(
    post, path = "/admin/teams", tag = "Teams", request_body = NewTeam,
    responses((status = 200, body = TeamItem), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    from: ClientAddress,
    Json(new): Json<NewTeam>,
) -> Result<Json<TeamItem>, ApiError> {
    let mut faults = Faults::default();
    let ip_white_list = new.ip_white_list.unwrap_or_default();
    check_texts(&mut faults, Some(&new.name), new.description.as_deref(), Some(&ip_white_list));
    let issuers =
        faults.references::<CertIssuer>(&state, "authorisedCas", &new.authorised_cas).await?;
    let members = faults.references::<Account>(&state, "members", &new.members).await?;
    faults.finish()?;
    own_address::check_list(&by, from, &members, &ip_white_list)?;
    let group = new.internal_group.unwrap_or(Group::User).into();
    standing::check_members(&by, &[], team::administrators_of(group, &members))?;
    if state.store.team_named(&new.name).await?.is_some() {
        return Err(name_taken::<Team>("name", &new.name));
    }
    let team = Team {
        id: state.new_id(),
        name: new.name,
        description: new.description.unwrap_or_default(),
        internal_group: group,
        dont_send_emails_on_issue: new.dont_send_emails_on_issue.unwrap_or_default(),
        dont_send_reminder_emails: new.dont_send_reminder_emails.unwrap_or_default(),
        ip_white_list,
        created_at: state.clock.now(),
        created_by: by.username().to_owned(),
    };
    let mut write = retention::begin_alone(&state).await?;
    write.insert_team(&team).await?;
    for issuer in &issuers {
        write.authorise_ca(team.id, *issuer).await?;
    }
    for member in &members {
        write.add_member(team.id, *member).await?;
    }
    let entry = state.audited("create", "teams").made(&(&team, &issuers[..], &members[..]));
    write.commit(entry).await?;
    tracing::info!(administrator = by.username(), team.id = %team.id, "made a team");
    read(&state, team.id).await.map(Json)
}

/// Changes a team.
#[utoipa::path(
    put, path = "/admin/teams/{id}", tag = "Teams", params(("id" = String, Path)),
    request_body = TeamChangeBody,
    responses((status = 200, body = TeamItem), (status = "default", body = JsonError)),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    from: ClientAddress,
    PathId(id): PathId<kind::Team>,
    Json(body): Json<TeamChangeBody>,
) -> Result<Json<TeamItem>, ApiError> {
    let description = body.description.map(Option::unwrap_or_default);
    let ip_white_list = body.ip_white_list.map(Option::unwrap_or_default);
    let mut faults = Faults::default();
    let name = body.name.as_deref();
    check_texts(&mut faults, name, description.as_deref(), ip_white_list.as_deref());
    let authorised_cas = match body.authorised_cas.map(Option::unwrap_or_default) {
        Some(named) => {
            Some(faults.references::<CertIssuer>(&state, "authorisedCas", &named).await?)
        }
        None => None,
    };
    let members = match body.members.map(Option::unwrap_or_default) {
        Some(named) => Some(faults.references::<Account>(&state, "members", &named).await?),
        None => None,
    };
    faults.finish()?;
    let change = TeamChange {
        name: body.name,
        description,
        internal_group: body.internal_group.map(Into::into),
        authorised_cas,
        dont_send_emails_on_issue: body.dont_send_emails_on_issue,
        dont_send_reminder_emails: body.dont_send_reminder_emails,
        ip_white_list,
        members,
    };
    team::change(&state, &by, from, id, change).await?;
    read(&state, id).await.map(Json)
}

/// Deletes a team without members, issuers and certificates.
#[utoipa::path(
    delete, path = "/admin/teams/{id}", tag = "Teams", params(("id" = String, Path)),
    responses((status = 200, body = TeamItem), (status = "default", body = JsonError)),
)]
async fn delete(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::Team>,
) -> Result<Json<TeamItem>, ApiError> {
    let item = read(&state, id).await?;
    team::delete(&state, &by, id).await?;
    Ok(Json(item))
}

fn check_texts(
    faults: &mut Faults,
    name: Option<&str>,
    description: Option<&str>,
    ip_white_list: Option<&str>,
) {
    if let Some(name) = name {
        faults.check_name("name", name, 100);
    }
    faults.check_length("description", description.unwrap_or_default(), 1000);
    let list = ip_white_list.unwrap_or_default();
    faults.check_length("ipWhiteList", list, 1000);
    if let Err(problem) = IpWhiteList::read(list) {
        faults.add("ipWhiteList", problem.to_string());
    }
}

async fn read(state: &AppState, id: TeamId) -> Result<TeamItem, ApiError> {
    let found = state.store.team(id).await?.ok_or_else(|| ApiError::not_found("team"))?;
    let issuers = state.store.authorised_cas_of(id).await?;
    let members = state.store.members_of(id).await?;
    Ok(TeamItem::new(
        found,
        issuers.iter().map(|pair| pair.cert_issuer_id).collect(),
        members.iter().map(|membership| membership.user_id).collect(),
    ))
}
