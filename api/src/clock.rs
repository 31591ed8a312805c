//! The wall clock, as a parameter: nothing else may ask for the time.

use time::{Duration, OffsetDateTime};

/// Where the time comes from, so that tests can move it.
pub trait Clock: Send + Sync {
    /// The time now, UTC.
    fn now(&self) -> OffsetDateTime;

    /// How long the machine has been up, its sleep included: nobody can set this one.
    fn since_boot(&self) -> Duration;
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

    fn since_boot(&self) -> Duration {
        let since = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        Duration::new(since.tv_sec, i32::try_from(since.tv_nsec).unwrap_or_default())
    }
}

/// A clock that stands until a test moves it.
#[cfg(test)]
#[derive(Debug)]
pub struct TestClock(std::sync::Mutex<(OffsetDateTime, Duration)>);

#[cfg(test)]
impl Default for TestClock {
    /// Stands at 2026-11-28 02:00:00 UTC.
    fn default() -> Self {
        let now = time::macros::datetime!(2026-11-28 02:00:00 UTC);
        Self(std::sync::Mutex::new((now, Duration::DAY)))
    }
}

#[cfg(test)]
impl TestClock {
    /// Moves the clock on, or back where `by` is negative.
    pub(crate) fn advance(&self, by: Duration) {
        let mut clock = self.0.lock().unwrap();
        clock.0 += by;
        clock.1 += by;
    }

    /// Sets the clock on or back: no time goes by.
    pub(crate) fn set_on(&self, by: Duration) {
        self.0.lock().unwrap().0 += by;
    }
}

#[cfg(test)]
impl Clock for TestClock {
    fn now(&self) -> OffsetDateTime {
        self.0.lock().unwrap().0
    }

    fn since_boot(&self) -> Duration {
        self.0.lock().unwrap().1
    }
}
