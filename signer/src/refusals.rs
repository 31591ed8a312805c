//! Refusals: how many there were, when they are an alarm, and which of them the journal takes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use chancery_shared::wire::{Refusal, RefusalCode};

use crate::budget::Budget;

/// More refusals about requests in a minute are an alarm: honest clients hardly ever see one.
const CALM: u32 = 20;

/// Refusals of one kind that the journal takes in an hour, each with its context. The rest is
/// counted, and the count is journaled: a flood must neither fill the disk nor hide that it was
/// there, and one kind must not hide another.
const JOURNALED: u32 = 60;

/// How often the journal is told how many it did not take.
const TELL_EVERY: Duration = MINUTE;

const MINUTE: Duration = Duration::from_mins(1);

const HOUR: Duration = Duration::from_hours(1);

/// Counts refusals since the start.
#[derive(Debug)]
pub struct Refusals {
    total: AtomicU64,
    calm: Budget<()>,
    alarms: Budget<()>,
    /// Each kind is a code and the rule that was broken, of which there are as many as the code
    /// knows.
    journaled: Budget<(RefusalCode, Option<String>)>,
    omitted: AtomicU64,
    tellings: Budget<()>,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            total: AtomicU64::new(0),
            calm: Budget::new(CALM, MINUTE),
            alarms: Budget::new(1, MINUTE),
            journaled: Budget::new(JOURNALED, HOUR),
            omitted: AtomicU64::new(0),
            tellings: Budget::new(1, TELL_EVERY),
        }
    }
}

impl Refusals {
    /// Counts one that is about a request, at `now` on a clock that never goes back.
    pub fn count(&self, now: Duration) {
        let total = self.total.fetch_add(1, Ordering::Relaxed) + 1;
        if self.calm.spend((), now).is_err() && self.alarms.spend((), now).is_ok() {
            tracing::error!(total, "alarm: more than {CALM} requests were refused in a minute");
        }
    }

    /// Whether the journal takes this one; if not, it is counted as omitted.
    pub fn is_to_be_journaled(&self, refusal: &Refusal, now: Duration) -> bool {
        let kind = (refusal.code, refusal.rule.clone());
        let is_taken = self.journaled.spend(kind, now).is_ok();
        if !is_taken {
            self.omitted.fetch_add(1, Ordering::Relaxed);
        }
        is_taken
    }

    /// How many the journal is to be told that it did not take; `None` if it need not be told now.
    pub fn omitted(&self, now: Duration) -> Option<u64> {
        let is_due =
            self.omitted.load(Ordering::Relaxed) > 0 && self.tellings.spend((), now).is_ok();
        is_due.then(|| self.all_omitted()).flatten()
    }

    /// As [`Refusals::omitted`], at the signer's end.
    pub fn all_omitted(&self) -> Option<u64> {
        Some(self.omitted.swap(0, Ordering::Relaxed)).filter(|omitted| *omitted > 0)
    }

    /// Counts what the journal could not be told again.
    pub fn not_told(&self, omitted: u64) {
        self.omitted.fetch_add(omitted, Ordering::Relaxed);
    }

    /// How many about requests since the start.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: RefusalCode, rule: Option<&str>) -> Refusal {
        Refusal { code, rule: rule.map(str::to_owned), detail: String::new(), retry_after_ms: None }
    }

    fn taken(refusals: &Refusals, refusal: &Refusal, now: Duration) -> usize {
        (0..1_000).filter(|_| refusals.is_to_be_journaled(refusal, now)).count()
    }

    #[test]
    fn a_flood_of_one_kind_is_journaled_up_to_its_share_and_counted_beyond() {
        let refusals = Refusals::default();
        let busy = refusal(RefusalCode::Busy, None);

        assert_eq!(taken(&refusals, &busy, Duration::ZERO), 60);
        assert_eq!(taken(&refusals, &busy, MINUTE), 0);
        assert_eq!(taken(&refusals, &busy, HOUR), 60);
        assert_eq!(refusals.omitted(HOUR), Some(940 + 1_000 + 940));
    }

    #[test]
    fn no_kind_is_hidden_by_a_flood_of_another() {
        let refusals = Refusals::default();
        taken(&refusals, &refusal(RefusalCode::Malformed, None), Duration::ZERO);
        taken(&refusals, &refusal(RefusalCode::PolicyViolation, Some("a")), Duration::ZERO);

        let other = refusal(RefusalCode::PolicyViolation, Some("b"));

        assert!(refusals.is_to_be_journaled(&other, Duration::ZERO));
    }

    #[test]
    fn what_was_omitted_is_told_once_and_at_most_once_a_minute() {
        let refusals = Refusals::default();
        let busy = refusal(RefusalCode::Busy, None);
        assert_eq!(refusals.omitted(Duration::ZERO), None);

        taken(&refusals, &busy, Duration::ZERO);
        assert_eq!(refusals.omitted(Duration::ZERO), Some(940));
        assert_eq!(refusals.omitted(MINUTE), None);

        taken(&refusals, &busy, MINUTE);
        assert_eq!(refusals.omitted(MINUTE), Some(1_000));
        taken(&refusals, &busy, MINUTE);
        assert_eq!(refusals.omitted(MINUTE), None);
        refusals.not_told(5);
        assert_eq!(refusals.all_omitted(), Some(1_005));
    }
}
