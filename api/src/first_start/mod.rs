//! What the first start on an empty home makes, each step once for ever.
//!
//! A step that is done is a fact in the store, so that what an administrator later changes or
//! deletes does not come back. Several processes on one database take turns by a lease.

mod accounts;
mod authorities;
mod owner;
#[cfg(test)]
mod tests;

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

pub use accounts::{FirstAdministratorError, make_accounts};
pub(crate) use owner::{administrators, owner};

use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::readiness::NotReady;
use crate::store::StoreError;

/// The fact that all of it is done.
const DONE: &str = "first-start";

/// The lease of the process that does it.
const LEASE: &str = "first-start";

/// How long the lease holds without being taken again.
const LEASE_FOR: Duration = Duration::from_mins(2);

/// First and longest pause between two tries.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// The job; it ends when everything is there, or when it is stopped.
#[derive(Debug)]
pub struct FirstStart {
    done: watch::Receiver<bool>,
    task: JoinHandle<()>,
}

impl FirstStart {
    /// Goes on until everything is there, however often the signer is away meanwhile.
    pub fn start(state: AppState) -> Self {
        let (is_done, done) = watch::channel(false);
        let watched = done.clone();
        state.readiness.add("first start", move || {
            let is_done = *watched.borrow();
            async move {
                let message = "the first start has not made everything yet".to_owned();
                let waiting = NotReady { code: Code::SignerUnavailable, message };
                if is_done { Ok(()) } else { Err(waiting) }
            }
        });
        let task = tokio::spawn(async move {
            let holder = state.new_id::<chancery_shared::id::kind::Row>().to_string();
            let mut pause = BACK_OFF.0;
            while let Err(error) = run(&state, &holder).await {
                let error = crate::log::Chain(&error).to_string();
                tracing::warn!(error, "the first start goes on in a moment");
                // Another process, or this one after a restart, need not wait for its end.
                if let Err(error) = give_back(&state, &holder).await {
                    tracing::warn!(%error, "the first start's lease ends by itself");
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(BACK_OFF.1);
            }
            is_done.send_replace(true);
        });
        Self { done, task }
    }

    /// Resolves once everything is there.
    pub fn done(&self) -> watch::Receiver<bool> {
        self.done.clone()
    }

    /// Ends it where it stands; the next start goes on.
    pub async fn stop(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

/// One try. What is done already is passed over.
///
/// # Errors
///
/// The signer or the database is not there, or another process is at it.
pub async fn run(state: &AppState, holder: &str) -> Result<(), ApiError> {
    if state.store.fact(DONE).await?.is_none() {
        let now = state.clock.now();
        if !state.store.take_lease(LEASE, holder, now, now + LEASE_FOR).await? {
            let message = "another process makes what the first start makes";
            return Err(ApiError::refused(Code::SignerUnavailable, message));
        }
        authorities::make(state).await?;
        remember(state, DONE, "done").await?;
        give_back(state, holder).await?;
    }
    authorities::write_root(state).await
}

async fn give_back(state: &AppState, holder: &str) -> Result<(), StoreError> {
    let mut write = state.store.begin().await?;
    write.give_lease_back(LEASE, holder).await?;
    write.commit().await
}

async fn remember(state: &AppState, fact: &str, value: &str) -> Result<(), StoreError> {
    let mut write = state.store.begin().await?;
    write.set_fact(fact, value).await?;
    write.commit().await
}
