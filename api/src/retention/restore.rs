//! Deleted to live.

use std::sync::Arc;

use super::items::Along;
use super::local_ca::{self, Attempt};
use super::several::{Becomes, so_far};
use super::{By, hold, told};
use crate::app::AppState;
use crate::audit;
use crate::error::ApiError;
use crate::store::Unaudited;
use crate::store::retention::{ItemId, Retained, Transition};

/// Restores an item and, where wished, what it stands on before it. Runs to its end even where the
/// caller goes away.
///
/// # Errors
///
/// [`super::Refusal`] in the words of HTTP, or signer or database failed: then what was not restored
/// is what it was, unless the code is `outcome_unknown`, and some is restored where it is
/// `partly_done`.
pub async fn restore(state: &AppState, by: By, id: ItemId, along: Along) -> Result<(), ApiError> {
    let state = state.clone();
    let running = tokio::spawn(audit::carried(async move {
        let order = plan(&state, id, along).await?;
        // Nothing comes back where it is known already that not all can.
        if order.iter().any(|item| matches!(item.id, ItemId::LocalCa(_))) {
            state.signer.state().check_signer()?;
        }
        for (index, item) in order.iter().enumerate() {
            let restored = one(&state, &by, item.id).await;
            restored.map_err(|error| so_far(error, Becomes::Live, &order, index))?;
        }
        Ok(())
    }));
    running.await.map_err(ApiError::internal)?
}

/// All of it, before the first is restored.
async fn plan(state: &AppState, id: ItemId, along: Along) -> Result<Vec<Arc<Retained>>, ApiError> {
    let items = super::Items::new(state.store.retained().await?, super::retention(state));
    Ok(items.each(&items.restoration(id, state.clock.now(), along)?)?)
}

async fn one(state: &AppState, by: &By, id: ItemId) -> Result<(), ApiError> {
    let mut write = state.store.begin_in_turn().await?;
    let items = hold(state, &mut write).await?;
    if let Err(refusal) = items.restoration(id, state.clock.now(), Along::Nothing) {
        write.let_go().await?;
        return Err(refusal.into());
    }
    let name = items.get(id).map(|item| item.name.clone()).unwrap_or_default();
    let entry = || told::entry(state, by, "restore", (id, &name));
    match id {
        ItemId::KeyStore(key_store) => {
            write.set_key_store_restored(key_store).await?;
            write.commit(entry()).await?;
        }
        ItemId::CertIssuer(issuer) => {
            write.set_cert_issuer_restored(issuer).await?;
            write.commit(entry()).await?;
        }
        ItemId::LocalCa(ca) => {
            let marked = local_ca::mark(state, by, &mut write, ca, Transition::Restoring).await?;
            write.commit_unaudited(Unaudited::LocalCaStep).await?;
            marked.carry_out(Attempt::First).await?;
        }
    }
    tracing::info!(username = by.username, item = ?id, "restored an item");
    Ok(())
}
