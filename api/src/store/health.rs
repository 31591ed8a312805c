//! Whether the database took what was last written.

use std::sync::atomic::{AtomicBool, Ordering};

/// Of one process's transactions.
#[derive(Debug, Default)]
pub(super) struct Health {
    /// The last transaction that wrote was undone, for whatever reason: the disk may be full.
    pub(super) is_in_doubt: AtomicBool,
    /// Held by whoever looks whether it still is.
    pub(super) probe: tokio::sync::Mutex<()>,
}

impl Health {
    pub(super) fn is_doubtful(&self) {
        self.is_in_doubt.store(true, Ordering::Release);
    }

    pub(super) fn is_well(&self) {
        self.is_in_doubt.store(false, Ordering::Release);
    }
}
