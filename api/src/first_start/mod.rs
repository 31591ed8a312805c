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
use crate::inventory::csr_generator;
use crate::lease::{Job, Lease};
use crate::readiness::NotReady;
use crate::store::{StoreError, Unaudited};

/// The fact that all of it is done.
const DONE: &str = "first-start";

/// The fact that the CSR Generators are made: later than the rest of an older installation.
const GENERATORS: &str = "first-start-generators";

/// One process at a time does it. Its lease is prolonged before each step, and a step is over sooner:
/// the longest makes a CA, which has two minutes.
const JOB: Job = Job { name: "first-start", holds_for: time::Duration::minutes(3) };

/// A stop waits no longer for a slow database; then the lease runs out by itself.
const GIVES_BACK_WITHIN: Duration = Duration::from_millis(300);

/// First and longest pause between two tries.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(5));

/// The job; it ends when everything is there, or when it is stopped.
#[derive(Debug)]
pub struct FirstStart {
    done: watch::Receiver<bool>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl FirstStart {
    /// Goes on until everything is there, however often the signer is away meanwhile.
    pub fn start(state: AppState) -> Self {
        let (is_done, done) = watch::channel(false);
        let (stop, mut stopping) = watch::channel(false);
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
            let lease = Lease::new(&state, JOB);
            let mut pause = BACK_OFF.0;
            loop {
                let tried = tokio::select! {
                    tried = run(&state, &lease) => Some(tried),
                    _ = stopping.wait_for(|stop| *stop) => None,
                };
                // Another process, or this one after a restart, need not wait for its end.
                let _ = tokio::time::timeout(GIVES_BACK_WITHIN, lease.give_back()).await;
                let error = match tried {
                    Some(Ok(())) => break,
                    Some(Err(error)) => crate::log::Chain(&error).to_string(),
                    None => return,
                };
                tracing::warn!(error, "the first start goes on in a moment");
                let stopped = stopping.wait_for(|stop| *stop);
                if tokio::time::timeout(pause, stopped).await.is_ok() {
                    return;
                }
                pause = (pause * 2).min(BACK_OFF.1);
            }
            is_done.send_replace(true);
        });
        Self { done, stop, task }
    }

    /// Resolves once everything is there.
    pub fn done(&self) -> watch::Receiver<bool> {
        self.done.clone()
    }

    /// Ends it where it stands; the next start goes on.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// One try, under a lease that the caller gives back. What is done already is passed over.
///
/// # Errors
///
/// The signer or the database is not there, or another process is at it.
async fn run(state: &AppState, lease: &Lease<'_>) -> Result<(), ApiError> {
    if state.store.fact(GENERATORS).await?.is_none() {
        hold(lease).await?;
        csr_generator::make_first(state, "first start").await?;
        remember(state, GENERATORS, "done").await?;
    }
    if state.store.fact(DONE).await?.is_none() {
        authorities::make(state, lease).await?;
        remember(state, DONE, "done").await?;
    }
    authorities::write_root(state).await
}

/// One try of a process that nothing disturbs.
#[cfg(test)]
pub(crate) async fn run_once(state: &AppState) -> Result<(), ApiError> {
    let lease = Lease::new(state, JOB);
    let tried = run(state, &lease).await;
    lease.give_back().await;
    tried
}

/// Takes or prolongs the lease: whoever has lost it leaves the next step to whoever has it.
async fn hold(lease: &Lease<'_>) -> Result<(), ApiError> {
    if lease.renew().await? {
        return Ok(());
    }
    let message = "another process makes what the first start makes";
    Err(ApiError::refused(Code::SignerUnavailable, message))
}

async fn remember(state: &AppState, fact: &str, value: &str) -> Result<(), StoreError> {
    let mut write = state.store.begin().await?;
    write.set_fact(fact, value).await?;
    write.commit_unaudited(Unaudited::FirstStartStep).await
}
