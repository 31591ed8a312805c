//! How a token is: its state, for all to see and to wait for, and its counters.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use chancery_shared::wire::v1::TokenState;
use tokio::sync::watch;

use super::contents::Contents;
use super::error::CkrName;
use super::protocol::Facts;

/// How the token is at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Whether it signs.
    pub state: TokenState,
    /// One sentence where it does not.
    pub message: String,
    /// Process id of the signing worker, where there is one that serves.
    pub worker_pid: Option<u32>,
    /// How far the workers are confined, one sentence, once one has started.
    pub sandbox: Option<String>,
    pub(super) facts: Facts,
}

/// Shared by the supervisor, which writes, and everyone who asks.
pub(super) struct Status {
    standing: watch::Sender<Standing>,
    pub(super) signatures: AtomicU64,
    pub(super) canary_signatures: AtomicU64,
    pub(super) trial_signatures: AtomicU64,
    pub(super) workers_started: AtomicU64,
    pub(super) epochs: AtomicU64,
    failures: Mutex<BTreeMap<String, u64>>,
    pub(super) contents: Contents,
}

impl Status {
    pub(super) fn new() -> Self {
        let standing = Standing {
            state: TokenState::Recovering,
            message: "the token is being opened".to_owned(),
            worker_pid: None,
            sandbox: None,
            facts: Facts::default(),
        };
        Self {
            standing: watch::Sender::new(standing),
            signatures: AtomicU64::new(0),
            canary_signatures: AtomicU64::new(0),
            trial_signatures: AtomicU64::new(0),
            workers_started: AtomicU64::new(0),
            epochs: AtomicU64::new(0),
            failures: Mutex::default(),
            contents: Contents::default(),
        }
    }

    /// Changes the standing and wakes who waits for it.
    pub(super) fn set(&self, change: impl FnOnce(&mut Standing)) {
        self.standing.send_if_modified(|standing| {
            let before = standing.clone();
            change(standing);
            *standing != before
        });
    }

    pub(super) fn standing(&self) -> Standing {
        self.standing.borrow().clone()
    }

    pub(super) fn state(&self) -> TokenState {
        self.standing.borrow().state
    }

    pub(super) fn watch(&self) -> watch::Receiver<Standing> {
        self.standing.subscribe()
    }

    pub(super) fn count(&self, failures: &[CkrName]) {
        if failures.is_empty() {
            return;
        }
        let mut counts = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        for failure in failures {
            *counts.entry(failure.as_str().to_owned()).or_default() += 1;
        }
    }

    pub(super) fn failures(&self) -> BTreeMap<String, u64> {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// One more.
pub(super) fn add(counter: &AtomicU64, more: u64) {
    counter.fetch_add(more, Ordering::Relaxed);
}

/// How many so far.
pub(super) fn total(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}
