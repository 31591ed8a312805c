//! Changing a Certificate Issuer.

use chancery_shared::id::{CertIssuerId, ProfileId, TeamId};
use serde_json::Value;

use super::{check_generators, check_policy, unknown};
use crate::app::AppState;
use crate::audit::Item as _;
use crate::error::ApiError;
use crate::inventory::settle;
use crate::reference::name_taken;
use crate::retention;
use crate::store::cert_issuer::CertIssuer;

/// What is to change of an issuer; `None` stays as it is. The CA that signs for it stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CertIssuerChange {
    /// Its name among the Certificate Issuers.
    pub name: Option<String>,
    /// What its certificates contain.
    pub profile_id: Option<ProfileId>,
    /// Whether keys may be made here for those who ask.
    pub allow_dn_requests: Option<bool>,
    /// Whether requests with a CSR are taken.
    pub allow_csr_requests: Option<bool>,
    /// Names of CSR Generators; empty: all.
    pub allowed_generators: Option<Vec<String>>,
    /// All teams that may use it; empty: every team.
    pub teams: Option<Vec<TeamId>>,
}

/// Changes a live Certificate Issuer, for the requests that come from now on.
///
/// # Errors
///
/// [`crate::error::Code::NotFound`], also where it was deleted; as [`super::create`] otherwise. Nothing has
/// changed then.
pub async fn change(
    state: &AppState,
    by: &str,
    id: CertIssuerId,
    change: CertIssuerChange,
) -> Result<CertIssuer, ApiError> {
    let planned = plan(state, id, &change);
    let (mut write, Planned { fields_before, after, teams, takes_away }) =
        retention::holding(state, planned).await?;
    if !write.update_cert_issuer(&after).await? {
        return Err(missing());
    }
    if change.teams.is_some() {
        write.withdraw_teams_of(id).await?;
        for team in &teams {
            write.authorise_ca(*team, id).await?;
        }
    }
    let entry = state.audited("change", "ca").made(&(&after, &teams[..]));
    write.commit(entry.before(fields_before)).await?;
    tracing::info!(username = by, cert_issuer.id = %id, "changed a Certificate Issuer");
    if takes_away {
        settle(state).await;
    }
    Ok(after)
}

/// What is to be written, and what the audit says of it.
struct Planned {
    fields_before: Value,
    after: CertIssuer,
    teams: Vec<TeamId>,
    /// Whether requests that were let in before must be over.
    takes_away: bool,
}

/// Looks at the issuer as it is and says what becomes of it.
async fn plan(
    state: &AppState,
    id: CertIssuerId,
    change: &CertIssuerChange,
) -> Result<Planned, ApiError> {
    let before = state.store.cert_issuer(id).await?.filter(|issuer| issuer.deleted_at.is_none());
    let before = before.ok_or_else(missing)?;
    if let Some(generators) = &change.allowed_generators {
        check_generators(state, generators).await?;
    }
    if let Some(name) = change.name.as_ref().filter(|name| **name != before.name)
        && state.store.live_cert_issuer_named(name).await?.is_some()
    {
        return Err(name_taken::<CertIssuer>("caName", name));
    }
    let teams = state.store.authorised_teams_of(id).await?;
    let fields_before = (&before, &teams[..]).fields();
    let teams_after = change.teams.clone().unwrap_or_else(|| teams.clone());
    let change = change.clone();
    let CertIssuer { profile_id, allow_dn_requests: dns, allow_csr_requests: csrs, .. } = before;
    let generators = before.allowed_generators.clone();
    let after = CertIssuer {
        name: change.name.unwrap_or(before.name),
        profile_id: change.profile_id.unwrap_or(before.profile_id),
        allow_dn_requests: change.allow_dn_requests.unwrap_or(before.allow_dn_requests),
        allow_csr_requests: change.allow_csr_requests.unwrap_or(before.allow_csr_requests),
        allowed_generators: change.allowed_generators.unwrap_or(before.allowed_generators),
        ..before
    };
    let takes_away = after.profile_id != profile_id
        || (dns && !after.allow_dn_requests)
        || (csrs && !after.allow_csr_requests)
        || narrows(&generators, &after.allowed_generators)
        || narrows(&teams, &teams_after);
    if after.profile_id != profile_id {
        let ca = state.store.local_ca(after.local_ca_id).await?;
        let ca = ca.ok_or_else(|| unknown("localCaId", "Local CA"))?;
        let profile = state.store.profile(after.profile_id).await?;
        let profile = profile.ok_or_else(|| unknown("certProfileId", "profile"))?;
        check_policy(state, &ca, &profile)?;
    }
    Ok(Planned { fields_before, after, teams: teams_after, takes_away })
}

/// Whether something is not among them any more. None at all means every one.
fn narrows<T: PartialEq>(before: &[T], after: &[T]) -> bool {
    !after.is_empty() && (before.is_empty() || before.iter().any(|one| !after.contains(one)))
}

fn missing() -> ApiError {
    ApiError::not_found("Certificate Issuer")
}
