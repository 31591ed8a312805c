//! Until when a private key is kept.

use time::OffsetDateTime;

use super::Period;

/// What is in force for private keys. Record, download and removal ask it alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// How long they are kept.
    pub period: Period,
    /// Keys that have been kept since then or longer were over when the period was changed: a longer
    /// one brings none of them back.
    pub over_at_change: Option<OffsetDateTime>,
}

impl Retention {
    /// Keys that have been kept since then or longer are over at `now`.
    pub fn over_since(&self, now: OffsetDateTime) -> OffsetDateTime {
        let by_period = now.saturating_sub(self.period.length());
        self.over_at_change.map_or(by_period, |at_change| at_change.max(by_period))
    }

    /// Whether a key that has been kept since `since` is over at `now`.
    pub fn is_over(&self, since: OffsetDateTime, now: OffsetDateTime) -> bool {
        since <= self.over_since(now)
    }
}
