//! How long to wait before a worker is started again: at once, then longer, with jitter.

use std::time::Duration;

/// The longest wait. A token that comes back signs again within 5 seconds.
const LONGEST: Duration = Duration::from_secs(1);
const FIRST: Duration = Duration::from_millis(25);

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// A worker has served for a while: the next loss is a new story.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }

    /// The wait after one more failure; `random` spreads it over the upper half.
    pub(super) fn next(&mut self, random: u8) -> Duration {
        let doubled = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        let first = self.failures == 0;
        self.failures = self.failures.saturating_add(1);
        if first {
            return Duration::ZERO;
        }
        let half = doubled / 2;
        half + half.mul_f64(f64::from(random) / 255.0)
    }
}

/// One random byte; any is good where there is none.
pub(super) fn jitter() -> u8 {
    let mut byte = [0x80];
    let _ = aws_lc_rs::rand::fill(&mut byte);
    byte[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_restart_is_at_once_and_no_wait_is_longer_than_a_second() {
        let mut backoff = Backoff::default();

        assert_eq!(backoff.next(0), Duration::ZERO);
        assert_eq!(backoff.next(0), Duration::from_millis(25));
        assert_eq!(backoff.next(255), Duration::from_millis(100));
        for _ in 0..100 {
            let wait = backoff.next(255);
            assert!(wait >= Duration::from_millis(100) && wait <= LONGEST, "{wait:?}");
        }
        backoff.reset();
        assert_eq!(backoff.next(255), Duration::ZERO);
    }
}
