//! A clock that jumped must not date certificates.
//!
//! The wall clock is held against CLOCK_BOOTTIME, which no one can set, and against the newest
//! journal entry.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use time::OffsetDateTime;

use crate::clock::Clock;

/// Remembers what time it should be.
#[derive(Debug)]
pub struct ClockGuard {
    tolerance: time::Duration,
    reference: Mutex<Reference>,
}

#[derive(Clone, Copy, Debug)]
struct Reference {
    wall: OffsetDateTime,
    since_boot: Duration,
}

/// The wall clock is further from where it should be than is tolerated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the clock shows {now} but should show {expected}")]
pub struct ClockJumped {
    /// What it shows.
    pub now: OffsetDateTime,
    /// What it should show, by the reference and the time since boot.
    pub expected: OffsetDateTime,
    /// When that was, on the clock that no one can set.
    since_boot: Duration,
}

/// Differences up to this are the kernel's own steering; the reference follows them.
const STEERING: time::Duration = time::Duration::seconds(1);

impl ClockGuard {
    /// Takes the wall clock as right, unless it lies more than `tolerance` behind `last_right`,
    /// when it was right last as far as the journal knows: then that is the reference.
    pub fn new(
        clock: &dyn Clock,
        tolerance: time::Duration,
        last_right: Option<OffsetDateTime>,
    ) -> Self {
        let now = clock.now();
        let wall = last_right.filter(|last| now + tolerance < *last).unwrap_or(now);
        let reference = Reference { wall, since_boot: clock.since_boot() };
        Self { tolerance, reference: Mutex::new(reference) }
    }

    /// The time to judge by.
    ///
    /// # Errors
    ///
    /// The clock jumped. Nothing may be signed until it is right again or accepted.
    pub fn check(&self, clock: &dyn Clock) -> Result<OffsetDateTime, ClockJumped> {
        let mut reference = self.reference.lock().unwrap_or_else(PoisonError::into_inner);
        let (now, since_boot) = (clock.now(), clock.since_boot());
        let expected = reference.wall + since_boot.saturating_sub(reference.since_boot);
        let difference = (now - expected).abs();
        if difference > self.tolerance {
            return Err(ClockJumped { now, expected, since_boot });
        }
        if difference <= STEERING {
            *reference = Reference { wall: now, since_boot };
        }
        Ok(now)
    }

    /// Looks at the clock without being asked: so the reference follows a clock that is steered
    /// slowly also while nothing is signed, and a jump is told when it happens. Answers whether the
    /// clock is right; `was_right` is the answer before.
    pub fn watch(&self, clock: &dyn Clock, was_right: bool) -> bool {
        let seen = self.check(clock);
        match &seen {
            Ok(_) if !was_right => tracing::info!("the clock is right again"),
            Err(jumped) if was_right => {
                tracing::error!(%jumped, "nothing is signed until the clock is right or accepted");
            }
            Ok(_) | Err(_) => {}
        }
        seen.is_ok()
    }

    /// What time it is for all that must not end or come back because the clock was set: what the
    /// wall clock shows as long as it can be believed, else what it should show.
    pub fn time(&self, clock: &dyn Clock) -> OffsetDateTime {
        self.check(clock).unwrap_or_else(|jumped| jumped.expected)
    }

    /// The operator says that the clock was right when it showed this. That very time is the
    /// reference from now on: a clock that was set again meanwhile has not been accepted.
    pub fn accept(&self, jumped: ClockJumped) {
        let mut reference = self.reference.lock().unwrap_or_else(PoisonError::into_inner);
        *reference = Reference { wall: jumped.now, since_boot: jumped.since_boot };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hands(Mutex<Reference>);

    impl Hands {
        fn at(minute: i64) -> Self {
            let wall = OffsetDateTime::UNIX_EPOCH + time::Duration::minutes(minute);
            Self(Mutex::new(Reference { wall, since_boot: Duration::from_secs(100) }))
        }

        fn move_on(&self, wall: time::Duration, since_boot: Duration) {
            let mut hands = self.0.lock().unwrap();
            hands.wall += wall;
            hands.since_boot += since_boot;
        }
    }

    impl Clock for Hands {
        fn now(&self) -> OffsetDateTime {
            self.0.lock().unwrap().wall
        }

        fn since_boot(&self) -> Duration {
            self.0.lock().unwrap().since_boot
        }
    }

    const FIVE: time::Duration = time::Duration::minutes(5);

    #[test]
    fn time_that_passes_on_both_clocks_is_no_jump() {
        let hands = Hands::at(1_000);
        let guard = ClockGuard::new(&hands, FIVE, None);

        hands.move_on(time::Duration::days(400), Duration::from_hours(400 * 24));

        assert_eq!(guard.check(&hands), Ok(hands.now()));
    }

    #[test]
    fn a_wall_clock_that_moves_alone_by_more_than_the_tolerance_has_jumped_until_it_is_back() {
        for jump in [time::Duration::minutes(6), time::Duration::minutes(-6)] {
            let hands = Hands::at(1_000);
            let guard = ClockGuard::new(&hands, FIVE, None);

            hands.move_on(jump, Duration::ZERO);
            assert!(guard.check(&hands).is_err(), "{jump}");

            hands.move_on(-jump, Duration::ZERO);
            assert!(guard.check(&hands).is_ok(), "{jump}");
        }
    }

    #[test]
    fn a_clock_that_is_steered_slowly_never_jumps_while_it_is_watched() {
        let hands = Hands::at(1_000);
        let guard = ClockGuard::new(&hands, FIVE, None);

        let is_right = (0..1_000).all(|_| {
            hands.move_on(time::Duration::milliseconds(1_500), Duration::from_secs(1));
            guard.watch(&hands, true)
        });

        assert!(is_right);
    }

    #[test]
    fn a_watched_clock_is_wrong_from_its_jump_on_until_it_is_back() {
        let hands = Hands::at(1_000);
        let guard = ClockGuard::new(&hands, FIVE, None);
        let jump = time::Duration::minutes(6);

        let right = hands.now();
        hands.move_on(jump, Duration::ZERO);
        assert!(!guard.watch(&hands, true));
        assert!(!guard.watch(&hands, false));
        assert_eq!(guard.time(&hands), right);
        hands.move_on(-jump, Duration::ZERO);
        assert!(guard.watch(&hands, false));
    }

    #[test]
    fn small_steps_do_not_add_up_to_an_unseen_jump() {
        let hands = Hands::at(1_000);
        let guard = ClockGuard::new(&hands, FIVE, None);

        let seen = (0..4).any(|_| {
            hands.move_on(time::Duration::minutes(2), Duration::ZERO);
            guard.check(&hands).is_err()
        });

        assert!(seen);
    }

    #[test]
    fn a_start_behind_the_newest_journal_entry_is_a_jump_until_it_is_accepted() {
        let hands = Hands::at(1_000);
        let last = hands.now() + time::Duration::minutes(6);
        let guard = ClockGuard::new(&hands, FIVE, Some(last));

        let jumped = guard.check(&hands).unwrap_err();
        assert_eq!((jumped.now, jumped.expected), (hands.now(), last));

        guard.accept(jumped);
        assert!(guard.check(&hands).is_ok());
    }

    #[test]
    fn what_is_accepted_is_the_time_that_was_shown_not_what_the_clock_was_set_to_since() {
        let hands = Hands::at(1_000);
        let guard = ClockGuard::new(&hands, FIVE, None);
        hands.move_on(time::Duration::days(1), Duration::ZERO);
        let jumped = guard.check(&hands).unwrap_err();

        hands.move_on(time::Duration::days(9) + time::Duration::seconds(3), Duration::from_secs(3));
        guard.accept(jumped);

        let again = guard.check(&hands).unwrap_err();
        assert_eq!(again.expected, jumped.now + time::Duration::seconds(3));
    }

    #[test]
    fn the_time_goes_on_as_if_the_clock_had_not_jumped_and_follows_it_once_it_is_accepted() {
        let hands = Hands::at(1_000);
        let guard = ClockGuard::new(&hands, FIVE, None);
        let began = hands.now();
        for jump in [time::Duration::days(30), time::Duration::days(-60)] {
            hands.move_on(jump, Duration::ZERO);
            assert_eq!(guard.time(&hands), began);
        }
        hands.move_on(time::Duration::minutes(7), Duration::from_mins(7));
        assert_eq!(guard.time(&hands), began + time::Duration::minutes(7));

        guard.accept(guard.check(&hands).unwrap_err());

        assert_eq!(guard.time(&hands), hands.now());
    }
}
