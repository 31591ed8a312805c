//! A key that was made although nobody here got to know: the answer was lost, or the process
//! ended. The signer's journal has it, by the context that the request carried.

use std::collections::HashSet;

use chancery_shared::id::{KeyId, SignerId};
use chancery_shared::wire::Context;
use chancery_shared::wire::journal::{Entry, Event};
use serde::Deserialize;

use super::claim;
use super::definition::LocalCaDefinition;
use super::undo::LOCAL_CA_ID;
use crate::app::AppState;
use crate::error::ApiError;
use crate::signer_client::SignerError;
use crate::store::Unaudited;
use crate::store::local_ca::{LocalCa, LocalCaClaim};

/// Notes the key of `ca` with its row, if the journal says that one was made for it.
///
/// # Errors
///
/// Signer or database failed: it is not known whether there is a key.
pub(super) async fn restore(
    state: &AppState,
    claim: LocalCaClaim,
    ca: &LocalCa,
    definition: &LocalCaDefinition,
) -> Result<(), ApiError> {
    let Some(begun) = definition.begun_after else { return Ok(()) };
    // Another signer's journal says nothing of it.
    if state.signer.state().signer_id() != Some(begun.signer_id) {
        return Err(SignerError::Unreachable.into());
    }
    let id = ca.id.to_string();
    let mut pending = HashSet::new();
    let mut after = begun.seq;
    loop {
        let entries = state.signer.read_journal(after).await?;
        let Some(last) = entries.last() else { return Ok(()) };
        after = serde_json::from_str::<Numbered>(last).map_err(ApiError::internal)?.seq;
        // An event that this build does not know is not one of these two.
        for entry in entries.iter().filter_map(|text| serde_json::from_str::<Entry>(text).ok()) {
            match entry.event {
                Event::KeyPending { key_id, context, .. } if names(&context, &id) => {
                    pending.insert(key_id);
                }
                Event::KeyCreated { key_id, .. } if pending.contains(&key_id) => {
                    return note(state, claim, ca, key_id, begun.signer_id).await;
                }
                _ => {}
            }
        }
    }
}

async fn note(
    state: &AppState,
    claim: LocalCaClaim,
    ca: &LocalCa,
    key_id: KeyId,
    signer_id: SignerId,
) -> Result<(), ApiError> {
    tracing::warn!(local_ca.id = %ca.id, %key_id, "the journal has a key that was lost here");
    let mut write = state.store.begin().await?;
    let is_held = write.set_local_ca_key(claim, key_id, signer_id).await?;
    write.commit_unaudited(Unaudited::LocalCaStep).await?;
    claim::check(is_held, ca)
}

fn names(context: &Context, local_ca_id: &str) -> bool {
    context.fields().get(LOCAL_CA_ID).and_then(|id| id.as_str()) == Some(local_ca_id)
}

/// The one part of an entry that never changes its shape.
#[derive(Deserialize)]
struct Numbered {
    seq: u64,
}
