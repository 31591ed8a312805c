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
    fn now(&self) -> OffsetDateTime {
        let now = clock_gettime(ClockId::Realtime);
        OffsetDateTime::UNIX_EPOCH + time::Duration::new(now.tv_sec, nanoseconds(now.tv_nsec))
    }

    fn since_boot(&self) -> Duration {
        let now = clock_gettime(ClockId::Boottime);
        Duration::new(now.tv_sec.unsigned_abs(), nanoseconds(now.tv_nsec).unsigned_abs())
    }
}

/// The kernel keeps nanoseconds below one second, so this never truncates.
fn nanoseconds(value: i64) -> i32 {
    i32::try_from(value).unwrap_or(0)
}
