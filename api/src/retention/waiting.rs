//! A restore that waits for the signer's operator: how it begins to wait, and how it ends without
//! one.

use std::sync::Arc;

use chancery_shared::id::{ApprovalId, LocalCaId};
use serde_json::json;

use super::key::CaKey;
use super::local_ca::{Marked, take};
use super::{By, Items, Refusal, retention, told};
use crate::app::AppState;
use crate::error::ApiError;
use crate::store::local_ca::LocalCa;
use crate::store::retention::{ItemId, Transition};
use crate::store::{StoreError, Unaudited};

impl Marked<'_> {
    /// From now on the operator's word is looked for.
    pub(super) async fn wait_for(
        &self,
        ca: &LocalCa,
        approval: ApprovalId,
    ) -> Result<(), StoreError> {
        let mut write = self.state.store.begin().await?;
        if !write.set_restore_awaiting(self.claim, approval).await? {
            // Whoever has it now says what becomes of it.
            return write.commit_unaudited(Unaudited::Nothing).await;
        }
        let item = (ItemId::LocalCa(ca.id), ca.name.as_str());
        let entry = told::entry(self.state, self.by, "restore waits", item);
        let waits = json!({"status": "restoring", "awaitsApproval": approval});
        write.commit(entry.before(json!({"status": "deleted"})).after(waits)).await
    }

    /// The CA is not restored: its key is out of use, whatever a word of the operator's has done, and
    /// what waits for one in the signer is over.
    pub(super) async fn stay_deleted(
        &self,
        ca: &LocalCa,
        action: &'static str,
    ) -> Result<(), ApiError> {
        CaKey { state: self.state, ca, by: self.by }.disable().await?;
        let mut write = self.state.store.begin().await?;
        if !write.give_transition_up(self.claim).await? {
            return Ok(write.commit_unaudited(Unaudited::Nothing).await?);
        }
        let item = (ItemId::LocalCa(ca.id), ca.name.as_str());
        let entry = told::entry(self.state, self.by, action, item);
        let entry =
            entry.before(json!({"status": "restoring"})).after(json!({"status": "deleted"}));
        Ok(write.commit(entry).await?)
    }
}

/// Ends a restore that waits, because the CA is deleted again.
pub(super) async fn take_back(
    state: &AppState,
    by: &By,
    id: LocalCaId,
    items: &Items,
) -> Result<(), ApiError> {
    let item = items.get(ItemId::LocalCa(id))?;
    // Somebody may be just looking what the operator says.
    let Some(marked) = take(state, by, id, Transition::Restoring).await? else {
        return Err(Refusal::Changing(Arc::clone(item), Transition::Restoring).into());
    };
    let done = match state.store.local_ca(id).await {
        Ok(Some(ca)) => marked.stay_deleted(&ca, "delete").await,
        Ok(None) => Err(Refusal::NotFound(item.id).into()),
        Err(error) => Err(error.into()),
    };
    if done.is_err() {
        marked.release().await?;
    }
    done
}

/// Whether the time to restore it is over.
pub(super) async fn is_too_late(state: &AppState, id: LocalCaId) -> Result<bool, ApiError> {
    let items = Items::new(state.store.retained().await?, retention(state));
    let item = items.get(ItemId::LocalCa(id))?;
    Ok(items.purge_at(item).is_some_and(|purge_at| purge_at <= state.clock.now()))
}
