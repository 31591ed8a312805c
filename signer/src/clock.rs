//! The signer's two clocks: wall time, and time since boot that no one can set.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use time::OffsetDateTime;

/// Where the time comes from; a parameter everywhere, so that tests can move it.
pub trait Clock: Send + Sync {
    /// The wall clock, UTC.
    fn now(&self) -> OffsetDateTime;
    /// CLOCK_BOOTTIME: goes on in suspend, can't be set.
    fn since_boot(&self) -> Duration;
}

/// The kernel's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// Through the C library, so that a test can move it.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }

    fn since_boot(&self) -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        // The kernel keeps nanoseconds below one second, so this never falls back.
        let nanoseconds = u32::try_from(now.tv_nsec).unwrap_or(0);
        Duration::new(now.tv_sec.unsigned_abs(), nanoseconds)
    }
}
