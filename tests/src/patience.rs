//! Waiting for what no log line announces.

use std::thread;
use std::time::{Duration, Instant};

/// Asks again each half second until there is an answer.
///
/// # Errors
///
/// None came within the time.
pub fn until<T>(
    what: &str,
    within: Duration,
    mut probe: impl FnMut() -> anyhow::Result<Option<T>>,
) -> anyhow::Result<T> {
    let began = Instant::now();
    loop {
        if let Some(seen) = probe()? {
            return Ok(seen);
        }
        anyhow::ensure!(began.elapsed() < within, "waited {within:?} for {what}");
        thread::park_timeout(Duration::from_millis(500));
    }
}
