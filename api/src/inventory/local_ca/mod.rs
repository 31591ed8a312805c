//! Local CAs: what is asked for, how one is made, and how its making is finished after a crash.

pub mod algorithm;
mod bounds;
mod change;
mod claim;
mod definition;
mod lost_key;
mod make;
mod resume;
#[cfg(test)]
mod tests;
mod undo;

use chancery_shared::id::{KeyStoreId, UserId};

pub use algorithm::hash_and_pss;
pub use change::{LocalCaChange, change};
pub use definition::{Awaiting, LocalCaDefinition};
pub use resume::Resumer;
#[cfg(test)]
pub(crate) use resume::run_once as resume_once;

use crate::app::AppState;
use crate::audit;
use crate::error::{ApiError, Code};
use crate::issuance::issuing_ca::IssuingCa;
use crate::name::DistinguishedName;
use crate::reference::name_taken;
use crate::store::Store;
use crate::store::local_ca::{LocalCa, LocalCaStatus};

/// A Local CA that an administrator asks for, each part sound by itself.
#[derive(Clone, Debug)]
pub struct NewLocalCa {
    /// Its name among the Local CAs.
    pub name: String,
    /// Where its key will be.
    pub key_store_id: KeyStoreId,
    /// Name of that Key Store's token in the signer.
    pub token: String,
    /// The CA that certifies it; `None` for a root.
    pub parent: Option<LocalCa>,
    /// Its subject.
    pub subject: DistinguishedName,
    /// As the administrator typed it, normalised.
    pub subject_dn: String,
    /// Everything else.
    pub definition: LocalCaDefinition,
}

/// Who makes a Local CA.
#[derive(Clone, Debug)]
pub struct Maker {
    /// The user, who will own the certificate's record.
    pub user_id: UserId,
    /// That user's name.
    pub username: String,
    /// By which the call is traced.
    pub request_id: String,
}

/// Makes a Local CA: its row, its key in the token, its certificate, the certificate's record.
///
/// Runs to its end even where the caller goes away.
///
/// # Errors
///
/// The signer refused, and nothing is left of the CA; or its answer is unknown, and the CA is
/// finished by itself.
pub async fn create(state: &AppState, maker: Maker, new: NewLocalCa) -> Result<LocalCa, ApiError> {
    // What would be refused anyway must not leave a key behind.
    state.signer.state().check_token(&new.token)?;
    if let Some(parent) = &new.parent {
        check_parent(parent)?;
    }
    if state.store.live_local_ca_named(&new.name).await?.is_some() {
        return Err(name_taken::<LocalCa>("name", &new.name));
    }
    bounds::check(state, &new).await?;
    let state = state.clone();
    tokio::spawn(audit::carried(async move { make::make(&state, &maker, new).await }))
        .await
        .map_err(ApiError::internal)?
}

fn check_parent(parent: &LocalCa) -> Result<(), ApiError> {
    let is_at_rest = parent.deleted_at.is_none() && parent.transition.is_none();
    if is_at_rest && parent.status == LocalCaStatus::Live {
        return Ok(());
    }
    let message = format!("the Local CA {} can't sign: it is not live", parent.name);
    Err(ApiError::refused(Code::CaNotLive, message))
}

/// The CA as drafts need it.
///
/// # Errors
///
/// [`Code::CaNotLive`] where it has no certificate yet.
pub async fn issuing_ca(store: &Store, ca: &LocalCa) -> Result<IssuingCa, ApiError> {
    let not_live = || {
        let message = format!("the Local CA {} has no certificate yet", ca.name);
        ApiError::refused(Code::CaNotLive, message)
    };
    let certificate_id = ca.certificate_id.ok_or_else(not_live)?;
    let stored = store.certificate(certificate_id).await?.ok_or_else(not_live)?;
    let definition = LocalCaDefinition::of(ca)?;
    let pointers = definition.pointers();
    IssuingCa::new(&stored.certificate.der, definition.signature_algorithm, pointers)
        .map_err(ApiError::internal)
}
