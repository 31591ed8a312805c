//! The time, for what a test sends to the real programs.

use rustix::time::{ClockId, clock_gettime};
use time::OffsetDateTime;

/// The wall clock.
#[must_use]
pub fn now() -> OffsetDateTime {
    let now = clock_gettime(ClockId::Realtime);
    OffsetDateTime::UNIX_EPOCH
        + time::Duration::seconds(now.tv_sec)
        + time::Duration::nanoseconds(now.tv_nsec)
}
