//! The time, for what a test sends to the real programs.

use rustix::time::{ClockId, clock_gettime};
use time::OffsetDateTime;

/// The wall clock, to the second.
#[must_use]
pub fn now() -> OffsetDateTime {
    let seconds = clock_gettime(ClockId::Realtime).tv_sec;
    OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(seconds)
}
