//! How often: signatures of one key in a minute, and changes of keys and seals.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A limit in each window of time, for each subject on its own.
#[derive(Debug)]
pub struct Budget<Subject> {
    limit: u32,
    window: Duration,
    spent: Mutex<HashMap<Subject, Window>>,
}

#[derive(Debug)]
struct Window {
    began: Duration,
    spent: u32,
}

/// The window is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted {
    /// When the next window begins.
    pub retry_after: Duration,
}

impl<Subject: Eq + Hash> Budget<Subject> {
    /// `limit` in each `window`; a limit of 0 is none.
    pub fn new(limit: u32, window: Duration) -> Self {
        Self { limit, window, spent: Mutex::new(HashMap::new()) }
    }

    /// Takes one of the subject's, at `now` on a clock that never goes back.
    ///
    /// # Errors
    ///
    /// [`Exhausted`] says when to come back; nothing was taken.
    pub fn spend(&self, subject: Subject, now: Duration) -> Result<(), Exhausted> {
        if self.limit == 0 {
            return Ok(());
        }
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        let window = spent.entry(subject).or_insert(Window { began: now, spent: 0 });
        let age = now.saturating_sub(window.began);
        if age >= self.window {
            *window = Window { began: now, spent: 0 };
        } else if window.spent >= self.limit {
            return Err(Exhausted { retry_after: self.window.saturating_sub(age) });
        }
        window.spent += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_mins(1);

    #[test]
    fn a_subject_has_its_limit_in_each_window_and_none_of_another_s() {
        let budget = Budget::new(2, MINUTE);

        assert_eq!(budget.spend('a', Duration::ZERO), Ok(()));
        assert_eq!(budget.spend('a', Duration::from_secs(20)), Ok(()));
        assert_eq!(
            budget.spend('a', Duration::from_secs(50)),
            Err(Exhausted { retry_after: Duration::from_secs(10) })
        );
        assert_eq!(budget.spend('b', Duration::from_secs(50)), Ok(()));
        assert_eq!(budget.spend('a', MINUTE), Ok(()));
    }

    #[test]
    fn a_limit_of_zero_is_no_limit() {
        let budget = Budget::new(0, MINUTE);

        assert!((0..10_000).all(|_| budget.spend((), Duration::ZERO).is_ok()));
    }
}
