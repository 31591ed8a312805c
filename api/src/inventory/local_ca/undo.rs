//! Taking back a Local CA that will never be.

use chancery_shared::wire::v1::KeyChange;
use chancery_shared::wire::{Context, RefusalCode};
use serde_json::Value;

use super::Maker;
use crate::app::AppState;
use crate::error::ApiError;
use crate::signer_client::SignerError;
use crate::store::local_ca::LocalCa;

/// Takes back what was begun for a CA that will never be: key first, then row. Where the key can't
/// be taken back now, the row stays, so that it is tried again.
pub(super) async fn remove(state: &AppState, maker: &Maker, ca: &LocalCa) {
    let removed = async {
        // A CA that has got its certificate meanwhile is left alone.
        let Some(row) = unfinished(state, ca).await? else { return Ok(()) };
        if let Some(key_id) = row.key_id {
            let reason = "its Local CA was not made".to_owned();
            let change = KeyChange { key_id, reason, context: key_context(maker, ca) };
            match state.signer.disable_key(change.clone()).await {
                Ok(_) => {}
                // It is on its way out already, since an earlier try that broke off.
                Err(SignerError::Refused(no)) if no.code == RefusalCode::KeyState => {}
                Err(error) => return Err(error.into()),
            }
            // Looked at again with the key out of use: destroying can't be taken back.
            if unfinished(state, ca).await?.is_none() {
                state.signer.enable_key(change).await?;
                return Ok(());
            }
            state.signer.destroy_key(change).await?;
        }
        let mut write = state.store.begin().await?;
        write.remove_unfinished_local_ca(ca.id).await?;
        write.commit().await?;
        Ok::<(), ApiError>(())
    };
    if let Err(error) = removed.await {
        let error = crate::log::Chain(&error).to_string();
        tracing::warn!(local_ca.id = %ca.id, error, "a refused Local CA is removed later");
    }
}

/// The row as it is now, if the CA still has no certificate.
async fn unfinished(state: &AppState, ca: &LocalCa) -> Result<Option<LocalCa>, ApiError> {
    let row = state.store.local_ca(ca.id).await?;
    Ok(row.filter(|row| row.certificate_id.is_none()))
}

/// Whether the signer may have done what was asked: then it is finished, not removed.
pub(super) fn is_unknown(error: &ApiError) -> bool {
    match error {
        ApiError::Signer(error) => error.outcome_is_unknown(),
        ApiError::NotRecorded { .. } | ApiError::Store(_) | ApiError::Internal(_) => true,
        ApiError::Refused(_) | ApiError::Bearer(_) | ApiError::Password(_) => false,
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
    Context(entries.into_iter().map(|(k, v)| (k.to_owned(), Value::from(v))).collect())
}

/// The field by which a key in the journal is found to be a Local CA's.
pub(super) const LOCAL_CA_ID: &str = "localCaId";
