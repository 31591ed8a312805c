//! Removes what is due: dependants before what they stand on, keys in the token first.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use chancery_shared::id::RowId;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::guard::{Hastened, note_days};
use super::remove::{self, Reason, Removed};
use super::{By, Items, retention};
use crate::app::AppState;
use crate::job_runs;
use crate::lease::{Job, Lease};
use crate::log::Chain;
use crate::store::StoreError;

/// Pause between two runs.
const EVERY: Duration = Duration::from_mins(1);

/// On a shared database one process at a time does it; one removal is over sooner.
const JOB: Job = Job { name: "purge", holds_for: time::Duration::minutes(3) };

/// So many items go in one run.
const BATCH: usize = 50;

/// The job; it ends when it is stopped or dropped.
#[derive(Debug)]
pub struct ItemPurger {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What this process's start brought nearer.
#[derive(Debug, Default)]
pub struct AtStart(Mutex<Option<Hastened>>);

impl AtStart {
    /// What it was, if anything.
    pub fn hastened(&self) -> Option<Hastened> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, hastened: Option<Hastened>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hastened;
    }
}

impl ItemPurger {
    /// Begins to look, now and then.
    pub fn start(state: AppState) -> Self {
        let (stop, mut stopping) = watch::channel(false);
        let task = tokio::spawn(async move {
            match note_days(&state).await {
                Ok(hastened) => state.purge_start.set(hastened),
                Err(error) => {
                    tracing::warn!(error = %Chain(&error), "what comes nearer is not told");
                }
            }
            while !*stopping.borrow() {
                let done = run_once(&state).await;
                if let Some(outcome) = told(done) {
                    job_runs::keep(&state, JOB.name, EVERY, outcome).await;
                }
                let _ = tokio::time::timeout(EVERY, stopping.wait_for(|stop| *stop)).await;
            }
            if let Err(error) = state.purge_guard.leave(&state).await {
                tracing::debug!(error = %Chain(&error), "other processes wait for this one a while");
            }
        });
        Self { stop, task }
    }

    /// Lets the removal that runs end, then stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Purged {
    /// Nothing is purged so soon after a start.
    NotYet,
    /// Nothing is purged any more for this reason; so many are gone in this run before that.
    Paused { why: String, removed: usize },
    /// Another process is at it.
    Elsewhere,
    /// So many are gone; so many were due and are not, the first for this reason; the keys of so
    /// many that are gone stay until the signer's operator decides.
    Done { removed: usize, left: usize, why: Option<String>, keys_left: usize },
}

pub(super) fn told(done: Result<Purged, StoreError>) -> Option<Result<String, String>> {
    Some(match done {
        Ok(Purged::Elsewhere) => return None,
        Ok(Purged::NotYet) => Ok("nothing is purged so soon after the start".to_owned()),
        Ok(Purged::Paused { why, removed }) => {
            tracing::error!(code = "purge-paused", removed, "nothing more is purged: {why}");
            metrics::gauge!("chancery_purge_paused").set(1);
            return Some(Err(match removed {
                0 => format!("paused: {why}"),
                _ => format!("paused after {removed} items: {why}"),
            }));
        }
        Ok(Purged::Done { removed, left, why, keys_left }) => {
            let mut said = format!("{removed} items purged");
            if keys_left > 0 {
                let kept = format!(
                    "; {keys_left} of their keys stay disabled in the token until the signer's \
                     operator decides (chancery-hsm pending)"
                );
                said.push_str(&kept);
            }
            if left == 0 {
                return Some(Ok(said));
            }
            let why = why.unwrap_or_default();
            tracing::warn!(removed, left, why, "items that are due are purged later");
            Err(format!("{said}, {left} are tried again: {why}"))
        }
        Err(error) => {
            tracing::warn!(error = %Chain(&error), "items that are due are purged later");
            Err("the database failed; it is tried again".to_owned())
        }
    })
}

/// Purges what is due, if nothing speaks against it.
pub(crate) async fn run_once(state: &AppState) -> Result<Purged, StoreError> {
    run_batch(state, BATCH).await
}

/// The same with so many items at most.
pub(super) async fn run_batch(state: &AppState, batch: usize) -> Result<Purged, StoreError> {
    if let Some(pause) = state.purge_guard.look(state).await? {
        return Ok(Purged::Paused { why: pause.to_string(), removed: 0 });
    }
    metrics::gauge!("chancery_purge_paused").set(0);
    if !state.purge_guard.may_begin(state) {
        return Ok(Purged::NotYet);
    }
    let lease = Lease::new(state, JOB);
    if !lease.renew().await? {
        return Ok(Purged::Elsewhere);
    }
    let done = purge(state, &lease, batch).await;
    lease.give_back().await;
    done
}

async fn purge(state: &AppState, lease: &Lease<'_>, batch: usize) -> Result<Purged, StoreError> {
    let items = Items::new(state.store.retained().await?, retention(state));
    let run: RowId = state.new_id();
    let by =
        By { user_id: None, username: JOB.name.to_owned(), request_id: format!("purge-{run}") };
    let (mut removed, mut left, mut why, mut keys_left) = (0, 0, None, 0);
    let due = state.purge_failed.put_failed_last(&items, items.due(state.clock.now()));
    for id in due.into_iter().take(batch) {
        if !lease.renew().await? {
            break;
        }
        // A clock may be set, and another process come, while the ones before it are removed.
        if let Some(pause) = state.purge_guard.look(state).await? {
            return Ok(Purged::Paused { why: pause.to_string(), removed });
        }
        match remove::one(state, &by, id, Reason::Due).await {
            Ok(Removed::NotAnyMore) => {}
            Ok(Removed::Whole) => removed += 1,
            Ok(Removed::But(_)) => {
                removed += 1;
                keys_left += 1;
            }
            Err(error) => {
                state.purge_failed.add(id);
                left += 1;
                why.get_or_insert(error.message());
            }
        }
    }
    Ok(Purged::Done { removed, left, why, keys_left })
}
