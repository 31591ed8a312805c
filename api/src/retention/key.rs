//! A Local CA's key, changed in the signer. Each change may be asked for again: what is so already
//! stays so.

use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::v1::KeyChange;
use chancery_shared::wire::{Context, RefusalCode};

use super::By;
use crate::app::AppState;
use crate::signer_client::{KeyChanging, SignerError};
use crate::store::local_ca::LocalCa;

/// How a key is that no one may use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Disabled {
    /// Disabled, and may be enabled again.
    Now,
    /// On its way out: it can't be enabled again.
    Ending,
    /// There is none, or the signer does not know it.
    None,
}

/// What became of a key that was to be enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enabled {
    /// It may sign.
    Now,
    /// The signer's operator decides.
    Awaits(ApprovalId),
    /// It is destroyed, or the signer does not know it.
    Never,
}

/// The key of a Local CA, and who changes it.
pub(super) struct CaKey<'a> {
    pub(super) state: &'a AppState,
    pub(super) ca: &'a LocalCa,
    pub(super) by: &'a By,
}

impl CaKey<'_> {
    /// Takes the key out of use; when this returns no signature of it is on its way.
    pub(super) async fn disable(&self) -> Result<Disabled, SignerError> {
        let Some(change) = self.change("its Local CA is deleted")? else {
            return Ok(Disabled::None);
        };
        match self.state.signer.disable_key(change).await {
            Ok(_) => Ok(Disabled::Now),
            Err(error) => match code(&error) {
                Some(RefusalCode::KeyState) => Ok(Disabled::Ending),
                Some(RefusalCode::UnknownKey) => Ok(Disabled::None),
                _ => Err(error),
            },
        }
    }

    /// Brings the key back.
    pub(super) async fn enable(&self) -> Result<Enabled, SignerError> {
        let Some(change) = self.change("its Local CA is restored")? else {
            return Ok(Enabled::Never);
        };
        match self.state.signer.enable_key(change).await.map(|answer| answer.value) {
            Ok(KeyChanging::Changed(_)) => Ok(Enabled::Now),
            Ok(KeyChanging::Pending(approval)) => Ok(Enabled::Awaits(approval)),
            Err(error) => match code(&error) {
                Some(RefusalCode::KeyState | RefusalCode::UnknownKey) => Ok(Enabled::Never),
                _ => Err(error),
            },
        }
    }

    /// Destroys the key, which is disabled, in the token; where the signer's operator decides, it
    /// stays disabled until then, and the answer is by which approval.
    pub(super) async fn destroy(&self) -> Result<Option<ApprovalId>, SignerError> {
        let Some(change) = self.change("its Local CA is removed")? else { return Ok(None) };
        destroy(self.state, change).await
    }

    fn change(&self, reason: &str) -> Result<Option<KeyChange>, SignerError> {
        let Some(key_id) = self.ca.key_id else { return Ok(None) };
        // Another signer's word on a key that it never had is worth nothing.
        if self.ca.signer_id.is_some() && self.ca.signer_id != self.state.signer.state().signer_id()
        {
            return Err(SignerError::Unreachable);
        }
        let ca = [
            ("localCaId", Some(self.ca.id.to_string())),
            ("localCaName", Some(self.ca.name.clone())),
        ];
        let context = context(self.by, ca);
        Ok(Some(KeyChange { key_id, reason: reason.to_owned(), context }))
    }
}

/// Takes a key out of use that belongs to no Local CA.
pub(super) async fn disable_nobodys(
    state: &AppState,
    by: &By,
    key_id: KeyId,
) -> Result<(), SignerError> {
    state.signer.disable_key(nobodys(by, key_id)).await.map(drop)
}

/// Has a disabled key destroyed that belongs to no Local CA; answers the approval that this waits for.
pub(super) async fn destroy_nobodys(
    state: &AppState,
    by: &By,
    key_id: KeyId,
) -> Result<Option<ApprovalId>, SignerError> {
    destroy(state, nobodys(by, key_id)).await
}

fn nobodys(by: &By, key_id: KeyId) -> KeyChange {
    KeyChange { key_id, reason: "it belongs to no Local CA".to_owned(), context: context(by, []) }
}

async fn destroy(state: &AppState, change: KeyChange) -> Result<Option<ApprovalId>, SignerError> {
    let key_id = change.key_id;
    let KeyChanging::Pending(approval_id) = state.signer.destroy_key(change).await?.value else {
        return Ok(None);
    };
    tracing::warn!(
        %key_id, %approval_id,
        "a key stays disabled until the signer's operator lets it be destroyed"
    );
    Ok(Some(approval_id))
}

fn context<'a>(by: &By, more: impl IntoIterator<Item = (&'a str, Option<String>)>) -> Context {
    let By { user_id, username, request_id } = by;
    let entries = [
        ("requestId", Some(request_id.clone())),
        ("actorUserId", user_id.map(|id| id.to_string())),
        ("actorUsername", Some(username.clone())),
    ];
    let entries = entries.into_iter().chain(more);
    entries.filter_map(|(name, value)| Some((name, value?))).collect()
}

fn code(error: &SignerError) -> Option<RefusalCode> {
    match error {
        SignerError::Refused(refusal) => Some(refusal.code),
        _ => None,
    }
}
