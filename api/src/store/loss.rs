//! When a connection was last found broken. Those that were idle then may have ended with it, and
//! are asked before they are used.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Of the process: to ask a connection of another database in vain does no harm.
static LAST: Mutex<Option<Instant>> = Mutex::new(None);

/// A connection was found broken just now.
pub(super) fn note() {
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

/// Whether one was since a connection was last used, `idle_for` ago.
pub(super) fn came_within(idle_for: Duration) -> bool {
    let last = *LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.is_some_and(|at| at.elapsed() <= idle_for)
}
