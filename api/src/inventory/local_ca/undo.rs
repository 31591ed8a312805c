//! Taking back a Local CA that will never be.

use std::time::Duration;

use chancery_shared::id::KeyId;
use chancery_shared::wire::v1::{KeyChange, KeyState};
use chancery_shared::wire::{Context, RefusalCode};

use super::definition::LocalCaDefinition;
use super::{Maker, claim};
use crate::app::AppState;
use crate::error::ApiError;
use crate::signer_client::{KeyChanging, SignerError, SignerState};
use crate::store::local_ca::{LocalCa, LocalCaClaim, LocalCaStatus};
use crate::store::{StoreError, Unaudited};

/// Takes back what was begun for a CA that will never be: key first, then row. Where the key can't
/// be taken back now, the row stays, so that it is tried again.
pub(super) async fn remove(state: &AppState, maker: &Maker, claim: LocalCaClaim, ca: &LocalCa) {
    if let Err(error) = try_to_remove(state, maker, claim, ca).await {
        let error = crate::log::Chain(&error).to_string();
        tracing::warn!(local_ca.id = %ca.id, error, "a refused Local CA is removed later");
    }
}

async fn try_to_remove(
    state: &AppState,
    maker: &Maker,
    claim: LocalCaClaim,
    ca: &LocalCa,
) -> Result<(), ApiError> {
    // 1. From here on the CA can't go live, unless it is let go again.
    if !set_removing(state, claim).await? {
        return Ok(());
    }
    let Some(row) = state.store.local_ca(ca.id).await? else { return Ok(()) };
    if let Some(key_id) = row.key_id {
        let change = change(maker, ca, key_id);
        if is_certified(&state.signer.state(), &row) {
            // An earlier try may have disabled the key and got no further.
            enable(state, change).await?;
            return keep(state, claim).await;
        }

        // 2. The key is out of use; a certificate that it has got until now is seen.
        let disabled = disable(state, change.clone()).await?;
        if disabled == Disabled::Now
            && (is_certified(&seen_disabled(state, key_id).await?, &row)
                || LocalCaDefinition::of(&row)?.recorded(state).await?.is_some())
        {
            enable(state, change).await?;
            return keep(state, claim).await;
        }

        // 3. Destroying can't be taken back: looked at a last time whose the CA is.
        if !set_removing(state, claim).await? {
            let now = state.store.local_ca(ca.id).await?;
            if now.is_some_and(|row| row.status != LocalCaStatus::Removing) {
                enable(state, change).await?;
            }
            return Ok(());
        }
        if disabled == Disabled::Now
            && LocalCaDefinition::of(&row)?.recorded(state).await?.is_some()
        {
            enable(state, change).await?;
            return keep(state, claim).await;
        }
        if disabled != Disabled::Unknown
            && let KeyChanging::Pending(_) = state.signer.destroy_key(change).await?.value
        {
            tracing::warn!(
                %key_id, "the key of a Local CA that was not made stays disabled until the \
                          signer's operator lets it be destroyed"
            );
        }
    }

    // 4. Nothing is left that only the row explains.
    let mut write = state.store.begin().await?;
    write.remove_unfinished_local_ca(claim).await?;
    Ok(write.commit(state.audited("take back", "localca").removed(&row)).await?)
}

/// Destroys a key that no row knows.
pub(super) async fn take_back_key(state: &AppState, maker: &Maker, ca: &LocalCa, key_id: KeyId) {
    let change = change(maker, ca, key_id);
    let destroyed = async {
        disable(state, change.clone()).await?;
        state.signer.destroy_key(change).await
    };
    if let Err(error) = destroyed.await {
        let error = crate::log::Chain(&error).to_string();
        tracing::error!(%key_id, error, "a key that belongs to no Local CA is left; destroy it");
    }
}

/// Whether the signer, as it was last seen, has a certificate for the CA's key.
pub(super) fn is_certified(signer: &SignerState, ca: &LocalCa) -> bool {
    ca.key_id.and_then(|id| signer.key(id)).is_some_and(|key| key.has_ca_certificate)
}

async fn set_removing(state: &AppState, claim: LocalCaClaim) -> Result<bool, StoreError> {
    let mut write = state.store.begin().await?;
    let is_held = write.set_local_ca_removing(claim, claim::until(state)).await?;
    write.commit_unaudited(Unaudited::LocalCaStep).await?;
    Ok(is_held)
}

/// A CA that has got its certificate meanwhile: the next look makes it live.
async fn keep(state: &AppState, claim: LocalCaClaim) -> Result<(), ApiError> {
    tracing::warn!(local_ca.id = %claim.local_ca_id, "a Local CA has got its certificate after all");
    let mut write = state.store.begin().await?;
    write.keep_local_ca(claim).await?;
    Ok(write.commit_unaudited(Unaudited::LocalCaStep).await?)
}

/// How a key is that no one may use any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Disabled {
    /// Disabled, and may be enabled again.
    Now,
    /// On its way out since a try that broke off.
    Ending,
    /// The signer does not know it: its entries are lost.
    Unknown,
}

async fn disable(state: &AppState, change: KeyChange) -> Result<Disabled, SignerError> {
    match state.signer.disable_key(change).await {
        Ok(_) => Ok(Disabled::Now),
        Err(SignerError::Refused(no)) if no.code == RefusalCode::KeyState => Ok(Disabled::Ending),
        Err(SignerError::Refused(no)) if no.code == RefusalCode::UnknownKey => {
            Ok(Disabled::Unknown)
        }
        Err(error) => Err(error),
    }
}

async fn enable(state: &AppState, change: KeyChange) -> Result<(), SignerError> {
    let key_id = change.key_id;
    if let KeyChanging::Pending(_) = state.signer.enable_key(change).await?.value {
        tracing::warn!(%key_id, "the key of a Local CA waits for the signer's operator to enable it");
    }
    Ok(())
}

/// The signer as it is seen after it has disabled the key.
async fn seen_disabled(state: &AppState, key_id: KeyId) -> Result<SignerState, SignerError> {
    let mut signer = state.signer.watch_state();
    let is_disabled = |signer: &SignerState| {
        signer.is_reachable() && signer.key(key_id).is_some_and(|key| key.state != KeyState::Live)
    };
    match tokio::time::timeout(SEEN_WITHIN, signer.wait_for(is_disabled)).await {
        Ok(Ok(seen)) => Ok(seen.clone()),
        Ok(Err(_)) | Err(_) => Err(SignerError::Unreachable),
    }
}

fn change(maker: &Maker, ca: &LocalCa, key_id: KeyId) -> KeyChange {
    let reason = "its Local CA was not made".to_owned();
    KeyChange { key_id, reason, context: key_context(maker, ca) }
}

/// Whether the signer may have done what was asked: then it is finished, not removed.
pub(super) fn is_unknown(error: &ApiError) -> bool {
    match error {
        ApiError::Signer(error) => error.outcome_is_unknown(),
        ApiError::NotRecorded { .. }
        | ApiError::KeyLost { .. }
        | ApiError::Store(_)
        | ApiError::Internal(_) => true,
        ApiError::Refused(_)
        | ApiError::KeyClosed(_)
        | ApiError::Bearer(_)
        | ApiError::Password(_)
        | ApiError::Throttled(_) => false,
    }
}

/// What the journal is to know of a change of the CA's key.
pub(super) fn key_context(maker: &Maker, ca: &LocalCa) -> Context {
    let entries = [
        ("requestId", maker.request_id.clone()),
        ("actorUserId", maker.user_id.to_string()),
        ("actorUsername", maker.username.clone()),
        (LOCAL_CA_ID, ca.id.to_string()),
        ("localCaName", ca.name.clone()),
    ];
    entries.into_iter().collect()
}

/// The field by which a key in the journal is found to be a Local CA's.
pub(super) const LOCAL_CA_ID: &str = "localCaId";

/// The signer is looked at about every second, and at once after a key has changed.
const SEEN_WITHIN: Duration = Duration::from_secs(10);
