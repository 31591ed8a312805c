//! `/admin/ca`: Certificate Issuers. Reading the list and a chain is open to any user.

mod life;

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use chancery_shared::id::{CertIssuerId, LocalCaId, TeamId, kind};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::cert_issuer::{
    CertIssuerChangeBody, CertIssuerItem, LOCAL, NewCertIssuerBody, pems,
};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::{Actor, Administrator};
use crate::error::{ApiError, Code, JsonError};
use crate::inventory::cert_issuer::{self, CertIssuerChange, NewCertIssuer};
use crate::inventory::{ca_chain, keep_first};
use crate::json::Json;
use crate::reference::{self, Field, agreed};
use crate::request::PathId;
use crate::store::cert_issuer::CertIssuer;
use crate::store::certificate::Certificate;
use crate::store::local_ca::LocalCa;
use crate::store::profile::Profile;
use crate::store::team::Team;

/// Certificate Issuers, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(create)).routes(routes!(one, change)).merge(life::routes())
}

/// What any user may read of them.
pub fn member_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(chain_by_name))
}

/// All Certificate Issuers, by name.
#[utoipa::path(
    get, path = "/admin/ca", tag = "Certificate Issuers",
    responses((status = 200, body = Vec<CertIssuerItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Actor,
) -> Result<Json<Vec<CertIssuerItem>>, ApiError> {
    let mut teams: HashMap<CertIssuerId, Vec<TeamId>> = HashMap::new();
    for pair in state.store.authorised_cas().await? {
        teams.entry(pair.cert_issuer_id).or_default().push(pair.team_id);
    }
    let mut cas: HashMap<LocalCaId, (String, Vec<Certificate>)> = HashMap::new();
    let mut items = Vec::new();
    for issuer in state.store.cert_issuers().await? {
        let teams = teams.remove(&issuer.id).unwrap_or_default();
        let id = issuer.local_ca_id;
        // Many issuers, few CAs: each chain is read once.
        let (subject, chain) = match cas.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(subject_and_chain(&state, id).await?),
        };
        items.push(CertIssuerItem::new(issuer, subject.clone(), chain, teams));
    }
    Ok(Json(items))
}

/// One Certificate Issuer.
#[utoipa::path(
    get, path = "/admin/ca/{id}", tag = "Certificate Issuers", params(("id" = String, Path)),
    responses((status = 200, body = CertIssuerItem), (status = "default", body = JsonError)),
)]
async fn one(
    State(state): State<AppState>,
    _by: Administrator,
    PathId(id): PathId<kind::CertIssuer>,
) -> Result<Json<CertIssuerItem>, ApiError> {
    let found = state.store.cert_issuer(id).await?.filter(|found| found.deleted_at.is_none());
    item(&state, found.ok_or_else(no_issuer)?).await.map(Json)
}

/// Makes a Certificate Issuer.
#[utoipa::path(
    post, path = "/admin/ca", tag = "Certificate Issuers", request_body = NewCertIssuerBody,
    responses((status = 200, body = CertIssuerItem), (status = "default", body = JsonError)),
)]
async fn create(
    State(state): State<AppState>,
    by: Administrator,
    Json(new): Json<NewCertIssuerBody>,
) -> Result<Json<CertIssuerItem>, ApiError> {
    let mut faults = Faults::default();
    faults.check_name("caName", &new.ca_name, 100);
    if new.ca_type.is_some_and(|kind| kind != LOCAL) {
        faults.add("caType", "must be 0, a Local CA");
    }
    let teams = faults.references::<Team>(&state, "teams", &new.teams).await?;
    faults.finish()?;
    let ca = local_ca_of(&state, &new).await?;
    let profile =
        profile_of(&state, new.cert_profile_id.as_deref(), new.cert_profile_name.as_deref())
            .await?
            .ok_or_else(|| ApiError::invalid_field("certProfileId", "must name a profile"))?;
    let mut allowed_generators = new.allowed_generators;
    keep_first(&mut allowed_generators);
    let new = NewCertIssuer {
        name: new.ca_name,
        local_ca_id: ca.id,
        profile_id: profile.id,
        allow_dn_requests: new.allow_dn_requests.unwrap_or(true),
        allow_csr_requests: new.allow_csr_requests.unwrap_or(true),
        allowed_generators,
        teams,
    };
    let issuer = cert_issuer::create(&state, by.username(), new).await?;
    item(&state, issuer).await.map(Json)
}

/// Changes a Certificate Issuer, for the requests that come from now on.
#[utoipa::path(
    put, path = "/admin/ca/{id}", tag = "Certificate Issuers", params(("id" = String, Path)),
    request_body = CertIssuerChangeBody,
    responses((status = 200, body = CertIssuerItem), (status = "default", body = JsonError)),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    PathId(id): PathId<kind::CertIssuer>,
    Json(body): Json<CertIssuerChangeBody>,
) -> Result<Json<CertIssuerItem>, ApiError> {
    let mut faults = Faults::default();
    if let Some(name) = &body.ca_name {
        faults.check_name("caName", name, 100);
    }
    let teams = match body.teams {
        Some(teams) => {
            let teams = teams.unwrap_or_default();
            Some(faults.references::<Team>(&state, "teams", &teams).await?)
        }
        None => None,
    };
    faults.finish()?;
    if let Some(other) = &body.local_ca_id {
        let own = state.store.cert_issuer(id).await?.ok_or_else(no_issuer)?.local_ca_id;
        if *other != own.to_string() {
            let message = "can't be changed: make another issuer for another Local CA";
            return Err(ApiError::invalid_field("localCaId", message));
        }
    }
    let (profile_id, name) = (body.cert_profile_id.as_deref(), body.cert_profile_name.as_deref());
    let profile = profile_of(&state, profile_id, name).await?;
    let mut allowed_generators = body.allowed_generators.map(Option::unwrap_or_default);
    if let Some(names) = &mut allowed_generators {
        keep_first(names);
    }
    let change = CertIssuerChange {
        name: body.ca_name,
        profile_id: profile.map(|profile| profile.id),
        allow_dn_requests: body.allow_dn_requests,
        allow_csr_requests: body.allow_csr_requests,
        allowed_generators,
        teams,
    };
    let issuer = cert_issuer::change(&state, by.username(), id, change).await?;
    item(&state, issuer).await.map(Json)
}

/// The CA certificates of an issuer as PEM, the issuing CA's first, up to the root.
#[utoipa::path(
    get, path = "/admin/ca/chainbyname/{caName}", tag = "Certificate Issuers",
    params(("caName" = String, Path, description = "name or id of a Certificate Issuer")),
    responses((status = 200, body = Vec<String>), (status = "default", body = JsonError)),
)]
async fn chain_by_name(
    State(state): State<AppState>,
    _by: Actor,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<Vec<String>>, ApiError> {
    let Ok(Path(name)) = name else { return Err(no_issuer()) };
    let issuer: Option<CertIssuer> = reference::by_either(&state.store, &name).await?;
    let issuer = issuer.ok_or_else(no_issuer)?;
    let (_, chain) = subject_and_chain(&state, issuer.local_ca_id).await?;
    Ok(Json(pems(&chain)))
}

async fn item(state: &AppState, issuer: CertIssuer) -> Result<CertIssuerItem, ApiError> {
    let (subject, chain) = subject_and_chain(state, issuer.local_ca_id).await?;
    let teams = state.store.authorised_teams_of(issuer.id).await?;
    Ok(CertIssuerItem::new(issuer, subject, &chain, teams))
}

/// The CA's subject, as its certificate has it where it has one, and its certificates.
async fn subject_and_chain(
    state: &AppState,
    id: LocalCaId,
) -> Result<(String, Vec<Certificate>), ApiError> {
    let Some(ca) = state.store.local_ca(id).await? else { return Ok(Default::default()) };
    let chain = ca_chain::of(state, &ca).await?;
    let subject = chain.first().map_or(ca.subject_dn, |own| own.subject_dn.clone());
    Ok((subject, chain))
}

async fn local_ca_of(state: &AppState, new: &NewCertIssuerBody) -> Result<LocalCa, ApiError> {
    let fields = [
        Field::Id("localCaId", new.local_ca_id.as_deref()),
        Field::Either("localCaName", new.local_ca_name.as_deref()),
    ];
    let found = agreed(&state.store, Code::UnknownReference, &fields).await?;
    let (_, ca) =
        found.ok_or_else(|| ApiError::invalid_field("localCaId", "must name a Local CA"))?;
    Ok(ca)
}

async fn profile_of(
    state: &AppState,
    id: Option<&str>,
    name: Option<&str>,
) -> Result<Option<Profile>, ApiError> {
    let fields = [Field::Id("certProfileId", id), Field::Either("certProfileName", name)];
    let found = agreed(&state.store, Code::UnknownReference, &fields).await?;
    Ok(found.map(|(_, profile)| profile))
}

fn no_issuer() -> ApiError {
    ApiError::not_found("Certificate Issuer")
}
