//! Live or deleted to gone.

use std::sync::Arc;

use super::Refusal;
use super::items::{Along, Items};
use super::local_ca::{self, Attempt};
use super::several::{Becomes, so_far};
use super::{By, KeyWaits, hold, retention, told};
use crate::app::AppState;
use crate::audit;
use crate::error::ApiError;
use crate::inventory::settle;
use crate::store::Unaudited;
use crate::store::retention::{ItemId, Retained, Transition};

/// What became of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Removed {
    /// It was no longer to be removed.
    NotAnyMore,
    /// It is gone, and its key with it.
    Whole,
    /// It is gone, and its key waits.
    But(KeyWaits),
}

impl Removed {
    pub(super) fn into_key_waits(self) -> Option<KeyWaits> {
        match self {
            Self::But(waits) => Some(waits),
            Self::NotAnyMore | Self::Whole => None,
        }
    }
}

/// Why an item goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// An administrator wants it.
    Asked,
    /// It stands, deleted, on what an administrator wants to go.
    Along,
    /// Its time is over.
    Due,
}

/// Removes an item for good and, where wished, its deleted dependants before it. Runs to its end
/// even where the caller goes away.
///
/// # Errors
///
/// [`super::Refusal`] in the words of HTTP, or signer or database failed: then what was not removed
/// is what it was, unless the code is `outcome_unknown`, and some is removed where it is
/// `partly_done`.
pub async fn remove(
    state: &AppState,
    by: By,
    id: ItemId,
    along: Along,
) -> Result<Vec<KeyWaits>, ApiError> {
    let state = state.clone();
    let running = tokio::spawn(audit::carried(async move {
        let order = plan(&state, id, along).await?;
        // Nothing goes where it is known already that not all can.
        for item in &order {
            check_token(&state, item.id).await?;
        }
        let mut waiting = Vec::new();
        for (index, item) in order.iter().enumerate() {
            let reason = if item.id == id { Reason::Asked } else { Reason::Along };
            let removed = one(&state, &by, item.id, reason).await;
            let removed = removed.map_err(|error| so_far(error, Becomes::Gone, &order, index))?;
            waiting.extend(removed.into_key_waits());
        }
        Ok(waiting)
    }));
    running.await.map_err(ApiError::internal)?
}

/// The keys that would stay after a [`remove`] now, until the signer's operator decides.
///
/// # Errors
///
/// As of [`remove`]. Nothing changes.
pub async fn rehearse_removal(
    state: &AppState,
    id: ItemId,
    along: Along,
) -> Result<Vec<KeyWaits>, ApiError> {
    Ok(keys_that_will_wait(state, &plan(state, id, along).await?))
}

/// What is removed, in this order.
async fn plan(state: &AppState, id: ItemId, along: Along) -> Result<Vec<Arc<Retained>>, ApiError> {
    let items = Items::new(state.store.retained().await?, retention(state));
    Ok(items.each(&items.removal(id, along)?)?)
}

/// Those of the Local CAs among them, as far as the signer's settings tell.
pub(super) fn keys_that_will_wait(state: &AppState, order: &[Arc<Retained>]) -> Vec<KeyWaits> {
    if !state.signer.state().destroy_awaits_operator() {
        return Vec::new();
    }
    let cas = order.iter().filter(|item| matches!(item.id, ItemId::LocalCa(_)));
    cas.map(|item| KeyWaits { id: item.id, name: item.name.clone(), approval_id: None }).collect()
}

/// Whether a key in the token can be destroyed now, as far as is known here.
async fn check_token(state: &AppState, id: ItemId) -> Result<(), ApiError> {
    let ItemId::LocalCa(id) = id else { return Ok(()) };
    let Some(ca) = state.store.local_ca(id).await?.filter(|ca| ca.key_id.is_some()) else {
        return Ok(());
    };
    if let Some(key_store) = state.store.key_store(ca.key_store_id).await? {
        state.signer.state().check_token(&key_store.token)?;
    }
    Ok(())
}

/// Removes one item that nothing stands on.
pub(super) async fn one(
    state: &AppState,
    by: &By,
    id: ItemId,
    reason: Reason,
) -> Result<Removed, ApiError> {
    let mut write = state.store.begin_in_turn().await?;
    let items = hold(state, &mut write).await?;
    let is_still_wanted = match reason {
        Reason::Asked | Reason::Along => true,
        // It may have been restored meanwhile, or removed.
        Reason::Due => items.get(id).is_ok_and(|item| items.is_due(item, state.clock.now())),
    };
    let mut refused = items.removal(id, Along::Nothing).err();
    if reason == Reason::Along
        && let Ok(item) = items.get(id)
        && item.deleted.is_none()
    {
        // Restored since it was looked at: nobody asked for this one.
        refused = Some(Refusal::Restored(Arc::clone(item)));
    }
    if refused.is_some() || !is_still_wanted {
        write.let_go().await?;
        return match refused {
            Some(refusal) if is_still_wanted => Err(refusal.into()),
            _ => Ok(Removed::NotAnyMore),
        };
    }
    let name = items.get(id).map(|item| item.name.clone()).unwrap_or_default();
    let entry = || told::entry(state, by, told::removal(by), (id, &name));
    let mut removed = Removed::Whole;
    match id {
        ItemId::KeyStore(key_store) => {
            write.remove_key_store(key_store).await?;
            write.commit(entry()).await?;
        }
        ItemId::CertIssuer(issuer) => {
            write.remove_cert_issuer(issuer).await?;
            write.commit(entry()).await?;
            // What is due was deleted long ago, and nobody has been let in since.
            if reason != Reason::Due {
                settle(state).await;
            }
        }
        ItemId::LocalCa(ca) => {
            let marked = local_ca::mark(state, by, &mut write, ca, Transition::Removing).await?;
            write.commit_unaudited(Unaudited::LocalCaStep).await?;
            if let Some(approval_id) = marked.carry_out(Attempt::First).await? {
                let approval_id = Some(approval_id);
                removed = Removed::But(KeyWaits { id, name, approval_id });
            }
        }
    }
    tracing::info!(username = by.username, item = ?id, "removed an item for good");
    Ok(removed)
}
