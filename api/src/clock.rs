//! The wall clock, as a parameter: nothing else may ask for the time.

use time::OffsetDateTime;

/// Where the time comes from, so that tests can move it.
pub trait Clock: Send + Sync {
    /// The time now, UTC.
    fn now(&self) -> OffsetDateTime;
}

/// The kernel's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    /// Through the C library, so that a test can move it.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> OffsetDateTime {
        OffsetDateTime::now_utc()
    }
}

/// A clock that stands until a test moves it.
#[cfg(test)]
#[derive(Debug)]
pub struct TestClock(std::sync::Mutex<OffsetDateTime>);

#[cfg(test)]
impl Default for TestClock {
    /// Stands at 2026-11-28 02:00:00 UTC.
    fn default() -> Self {
        Self(std::sync::Mutex::new(time::macros::datetime!(2026-11-28 02:00:00 UTC)))
    }
}

#[cfg(test)]
impl TestClock {
    /// Moves the clock on, or back where `by` is negative.
    pub(crate) fn advance(&self, by: time::Duration) {
        *self.0.lock().unwrap() += by;
    }
}

#[cfg(test)]
impl Clock for TestClock {
    fn now(&self) -> OffsetDateTime {
        *self.0.lock().unwrap()
    }
}
