//! Certificate Issuers: made by an administrator, looked up for each request.

mod change;
mod issuing;

use chancery_shared::id::{LocalCaId, ProfileId, TeamId};

pub use change::{CertIssuerChange, change};
pub use issuing::issuing;

use super::local_ca::LocalCaDefinition;
use crate::app::AppState;
use crate::echo::cut;
use crate::error::{ApiError, Code};
use crate::reference::name_taken;
use crate::retention;
use crate::signer_client::SignerError;
use crate::store::cert_issuer::CertIssuer;
use crate::store::local_ca::{LocalCa, LocalCaStatus};
use crate::store::profile::Profile;
use crate::store::retention::ItemId;

/// A Certificate Issuer that an administrator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCertIssuer {
    /// Its name among the Certificate Issuers.
    pub name: String,
    /// The CA that signs for it.
    pub local_ca_id: LocalCaId,
    /// What its certificates contain.
    pub profile_id: ProfileId,
    /// Whether keys may be made here for those who ask.
    pub allow_dn_requests: bool,
    /// Whether requests with a CSR are taken.
    pub allow_csr_requests: bool,
    /// Names of CSR Generators; empty: all.
    pub allowed_generators: Vec<String>,
    /// Which teams may use it; empty: all.
    pub teams: Vec<TeamId>,
}

/// Makes a Certificate Issuer. `by` is the user who does.
///
/// # Errors
///
/// [`Code::UnknownReference`], [`Code::UnknownGenerator`], [`Code::CaNotLive`],
/// [`Code::PolicyViolation`] where the profile goes beyond what the CA's key may sign, or
/// [`Code::NameTaken`]; nothing is stored then.
pub async fn create(
    state: &AppState,
    by: &str,
    new: NewCertIssuer,
) -> Result<CertIssuer, ApiError> {
    let issuer = CertIssuer {
        id: state.new_id(),
        name: new.name,
        local_ca_id: new.local_ca_id,
        profile_id: new.profile_id,
        allow_dn_requests: new.allow_dn_requests,
        allow_csr_requests: new.allow_csr_requests,
        allowed_generators: new.allowed_generators,
        created_at: state.clock.now(),
        created_by: by.to_owned(),
        deleted_at: None,
    };
    let mut write = state.store.begin_in_turn().await?;
    let held = async {
        let items = retention::hold(state, &mut write).await?;
        check_new(state, &issuer).await?;
        Ok(items.check_live(ItemId::LocalCa(issuer.local_ca_id))?)
    };
    if let Err::<(), ApiError>(error) = held.await {
        write.let_go().await?;
        return Err(error);
    }
    write.insert_cert_issuer(&issuer).await?;
    for team in &new.teams {
        write.authorise_ca(*team, issuer.id).await?;
    }
    let entry = state.audited("create", "ca").made(&(&issuer, &new.teams[..]));
    write.commit(entry).await?;
    tracing::info!(username = by, cert_issuer.id = %issuer.id, "made a Certificate Issuer");
    Ok(issuer)
}

async fn check_new(state: &AppState, new: &CertIssuer) -> Result<(), ApiError> {
    check_generators(state, &new.allowed_generators).await?;
    let ca = state.store.local_ca(new.local_ca_id).await?.filter(|ca| ca.deleted_at.is_none());
    let ca = ca.ok_or_else(|| unknown("localCaId", "Local CA"))?;
    check_live(&ca)?;
    let profile = state.store.profile(new.profile_id).await?;
    let profile = profile.ok_or_else(|| unknown("certProfileId", "profile"))?;
    check_policy(state, &ca, &profile)?;
    match state.store.live_cert_issuer_named(&new.name).await? {
        Some(_) => Err(name_taken::<CertIssuer>("caName", &new.name)),
        None => Ok(()),
    }
}

async fn check_generators(state: &AppState, names: &[String]) -> Result<(), ApiError> {
    if names.is_empty() {
        return Ok(());
    }
    let all = state.store.csr_generators().await?;
    for (index, name) in names.iter().enumerate() {
        if !all.iter().any(|generator| generator.name == *name) {
            let all: Vec<_> = all.iter().map(|generator| generator.name.as_str()).collect();
            let (name, all) = (cut(name), cut(&all.join(", ")));
            let message = format!("there is no CSR Generator {name}; there are {all}");
            let field = format!("allowedGenerators[{index}]");
            return Err(ApiError::refused_field(Code::UnknownGenerator, &field, message));
        }
    }
    Ok(())
}

/// Whether the CA may sign at all.
fn check_live(ca: &LocalCa) -> Result<(), ApiError> {
    let state = match ca.status {
        _ if ca.deleted_at.is_some() => "deleted",
        _ if ca.transition.is_some() => "being deleted",
        LocalCaStatus::Live => return Ok(()),
        LocalCaStatus::Offline => "offline",
        LocalCaStatus::AwaitingCertificate => "awaiting its certificate",
        LocalCaStatus::AwaitingApproval => "awaiting the signer operator's approval",
        LocalCaStatus::Removing => "being removed",
        LocalCaStatus::Revoked => "revoked",
    };
    let message = format!("the Local CA {} can't sign: it is {state}", ca.name);
    Err(ApiError::refused(Code::CaNotLive, message))
}

/// The signer would refuse every certificate: better to say so before there is one.
pub(super) fn check_policy(
    state: &AppState,
    ca: &LocalCa,
    profile: &Profile,
) -> Result<(), ApiError> {
    let signer = state.signer.state();
    let own = LocalCaDefinition::of(ca)?.policy;
    let policy = own.as_ref().or(signer.ceiling()).ok_or(SignerError::Unreachable)?;
    let Some(field) = profile.definition.beyond(policy) else { return Ok(()) };
    let message = format!(
        "the profile {} goes beyond what the key of the Local CA {} may sign, by its {field}; \
         choose another profile or CA",
        profile.name, ca.name
    );
    Err(ApiError::refused_field(Code::PolicyViolation, field, message))
}

fn unknown(field: &str, kind: &str) -> ApiError {
    ApiError::refused_field(Code::UnknownReference, field, format!("there is no such {kind}"))
}
