//! Removes key data whose time is over, and the data keys that nothing is sealed under any more.

use std::time::Duration;

use chancery_shared::id::CertificateId;
use serde_json::json;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::vault::ROTATE_AFTER;
use crate::app::AppState;
use crate::certificate::history::HistoryEvent;
use crate::job_runs;
use crate::lease::{Job, Lease};
use crate::settings::Settings;
use crate::signer_client::SignerState;
use crate::store::certificate::HistoryEntry;
use crate::store::{StoreError, Unaudited};

/// Pause between two runs.
const EVERY: Duration = Duration::from_mins(1);

/// So long a start waits for the signer.
const PATIENCE: Duration = Duration::from_secs(5);

/// On a shared database one process at a time does it.
const JOB: Job = Job { name: "key-data", holds_for: time::Duration::minutes(2) };

/// What the history says: the period may have been another one when it was over.
const REMOVED: &str = "The private key was removed: its Private Key Retention Period was over";

/// So many are removed by one transaction.
const BATCH: u16 = 200;

/// The job; it ends when it is stopped or dropped.
#[derive(Debug)]
pub struct Purger {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Purger {
    /// Begins to look, now and then.
    pub fn start(state: AppState) -> Self {
        let (stop, mut stopping) = watch::channel(false);
        let task = tokio::spawn(async move {
            while !*stopping.borrow() {
                // Each process for itself, once it has a signer.
                let mut signer = state.signer.watch_state();
                let is_there = async { signer.wait_for(SignerState::is_reachable).await.is_ok() };
                tokio::select! {
                    _ = tokio::time::timeout(PATIENCE, is_there) => {}
                    () = async { drop(stopping.wait_for(|stop| *stop).await) } => break,
                }
                if let Err(error) = state.vault.open_all(&state).await {
                    let error = crate::log::Chain(&error).to_string();
                    tracing::warn!(error, "data keys are opened later");
                }
                let outcome = match run_once(&state).await {
                    Ok(None) => None,
                    Ok(Some(removed)) => Some(Ok(format!("{removed} private keys removed"))),
                    Err(error) => {
                        let error = crate::log::Chain(&error).to_string();
                        tracing::warn!(error, "key data that is due is removed later");
                        Some(Err("the database failed; it is tried again".to_owned()))
                    }
                };
                if let Some(outcome) = outcome {
                    job_runs::keep(&state, JOB.name, EVERY, outcome).await;
                }
                let pause = tokio::time::timeout(EVERY, stopping.wait_for(|stop| *stop)).await;
                if let Ok(Err(_)) = pause {
                    // Nobody is left who could stop it.
                    break;
                }
            }
        });
        Self { stop, task }
    }

    /// Lets the batch that runs end, then stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// Removes all that is due; says how much that was. `None`: another process is at it.
pub(crate) async fn run_once(state: &AppState) -> Result<Option<usize>, StoreError> {
    let lease = Lease::new(state, JOB);
    if !lease.renew().await? {
        return Ok(None);
    }
    let done = purge(state, &lease).await;
    lease.give_back().await;
    done.map(Some)
}

async fn purge(state: &AppState, lease: &Lease<'_>) -> Result<usize, StoreError> {
    let retention = Settings::read(&state.store).await?.retention;
    let mut removed = 0;
    loop {
        let before = retention.over_since(state.clock.now());
        let due = state.store.key_data_kept_since(before, BATCH).await?;
        if due.is_empty() || !lease.renew().await? {
            break;
        }
        remove(state, &due).await?;
        removed += due.len();
    }
    let mut write = state.store.begin().await?;
    let idle = write.delete_idle_data_keys(state.clock.now() - ROTATE_AFTER * 2).await?;
    if idle == 0 {
        write.commit_unaudited(Unaudited::Nothing).await?;
    } else {
        let entry = state.audited("delete", "datakeys").before(json!({"count": idle}));
        write.commit_beside_inventory(entry).await?;
    }
    if removed > 0 {
        tracing::info!(removed, "removed key data whose time is over");
    }
    state.store.forget_old_pages().await?;
    Ok(removed)
}

async fn remove(state: &AppState, due: &[CertificateId]) -> Result<(), StoreError> {
    let mut write = state.store.begin().await?;
    let mut gone = Vec::new();
    for id in due {
        // A record that was deleted meanwhile has taken its key data along.
        if write.remove_key_data(*id).await? {
            let entry = HistoryEntry {
                id: state.new_id(),
                happened_at: state.clock.now(),
                event: HistoryEvent::KeyDataRemoved,
                details: REMOVED.to_owned(),
            };
            write.insert_history(*id, &entry).await?;
            gone.push(id.to_string());
        }
    }
    if gone.is_empty() {
        return write.commit_unaudited(Unaudited::Nothing).await;
    }
    let entry = state.audited("remove key data", "certs").before(json!({"certIds": gone}));
    write.commit_beside_inventory(entry).await
}
