//! Live to deleted, or to gone where nothing is kept.

use super::local_ca::{self, Attempt};
use super::state::Deletion;
use super::{By, Items, KeyWaits, Outcome, guard, hold, remove, retention, told, waiting};
use crate::app::AppState;
use crate::audit;
use crate::error::ApiError;
use crate::inventory::settle;
use crate::store::Unaudited;
use crate::store::retention::{ItemId, Transition};

/// Deletes an item. Runs to its end even where the caller goes away.
///
/// # Errors
///
/// [`super::Refusal`] in the words of HTTP, or signer or database failed: then the item is what it
/// was, unless the code is `outcome_unknown`.
pub async fn delete(
    state: &AppState,
    by: By,
    id: ItemId,
) -> Result<(Outcome, Vec<KeyWaits>), ApiError> {
    let state = state.clone();
    let running = tokio::spawn(audit::carried(async move { run(&state, &by, id).await }));
    running.await.map_err(ApiError::internal)?
}

/// What [`delete`] would do now.
///
/// # Errors
///
/// As of [`delete`]. Nothing changes.
pub async fn rehearse_deletion(
    state: &AppState,
    id: ItemId,
) -> Result<(Outcome, Vec<KeyWaits>), ApiError> {
    let items = Items::new(state.store.retained().await?, retention(state));
    if items.awaits_restore(id) {
        return Ok((Outcome::Deleted, Vec::new()));
    }
    Ok(match items.deletion(id, state.clock.now())? {
        Deletion::Kept(_) => (Outcome::Deleted, Vec::new()),
        Deletion::Gone(_) => {
            let item = std::slice::from_ref(items.get(id)?);
            (Outcome::Gone, remove::keys_that_will_wait(state, item))
        }
    })
}

async fn run(state: &AppState, by: &By, id: ItemId) -> Result<(Outcome, Vec<KeyWaits>), ApiError> {
    let now = guard::moment_of_deletion(state).await?;
    let mut write = state.store.begin_in_turn().await?;
    let items = hold(state, &mut write).await?;
    if let ItemId::LocalCa(ca) = id
        && items.awaits_restore(id)
    {
        write.let_go().await?;
        waiting::take_back(state, by, ca, &items).await?;
        return Ok((Outcome::Deleted, Vec::new()));
    }
    let refused = match items.deletion(id, now) {
        Ok(Deletion::Kept(_)) => None,
        Ok(Deletion::Gone(_)) => {
            write.let_go().await?;
            let removed = remove::one(state, by, id, remove::Reason::Asked).await?;
            return Ok((Outcome::Gone, removed.into_key_waits().into_iter().collect()));
        }
        Err(refusal) => Some(refusal),
    };
    if let Some(refusal) = refused {
        write.let_go().await?;
        return Err(refusal.into());
    }
    let name = items.get(id).map(|item| item.name.clone()).unwrap_or_default();
    let entry = || told::entry(state, by, "delete", (id, &name));
    match id {
        ItemId::KeyStore(key_store) => {
            write.set_key_store_deleted(key_store, now, &by.username).await?;
            write.commit(entry()).await?;
        }
        ItemId::CertIssuer(issuer) => {
            write.set_cert_issuer_deleted(issuer, now, &by.username).await?;
            write.commit(entry()).await?;
            settle(state).await;
        }
        ItemId::LocalCa(ca) => {
            let marked = local_ca::mark(state, by, &mut write, ca, Transition::Deleting).await?;
            write.commit_unaudited(Unaudited::LocalCaStep).await?;
            marked.carry_out(Attempt::First).await?;
        }
    }
    tracing::info!(username = by.username, item = ?id, "deleted an item");
    Ok((Outcome::Deleted, Vec::new()))
}
