//! Whether anything may be purged: keys must not go because a clock or a number is wrong.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use chancery_shared::id::RowId;
use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::By;
use crate::app::AppState;
use crate::clock::Clock;
use crate::error::ApiError;
use crate::store::api_process::ApiProcess;
use crate::store::{StoreError, Unaudited};
use crate::timestamp;

/// The newest time that any process has found right, in milliseconds.
const NEWEST: &str = "purge-newest-time";
/// Names the last confirmation.
const CONFIRMED: &str = "purge-confirmed";
/// `deleteditems.purge.afterdays` of the last start.
const DAYS: &str = "purge-after-days";

/// The wall clock may leave the time since boot by so much.
const DRIFT: Duration = Duration::HOUR;
/// A service may be off for so long without anyone looking at its clock.
const OFF: Duration = Duration::DAY;
/// A process that has said nothing for so long is gone: longer than clocks may be apart. One that
/// ends in order says so.
const GONE: Duration = Duration::minutes(65);

/// Why nothing is purged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// The wall clock went another way than the time since boot.
    ClockMoved(Duration),
    /// At its start the process found a time that is far past all that was known.
    FarAhead {
        /// The newest that was known.
        known: OffsetDateTime,
        /// What the clock said.
        found: OffsetDateTime,
    },
    /// Processes disagree on how long deleted items are kept.
    DaysDiffer(Vec<u32>),
}

impl Pause {
    /// Whether an administrator's word ends it.
    pub fn can_be_confirmed(&self) -> bool {
        !matches!(self, Self::DaysDiffer(_))
    }
}

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ClockMoved(by) => write!(
                f,
                "the wall clock was moved by {} s; if it is right now, confirm it: POST \
                 /api/admin/status/purge/confirm",
                by.whole_seconds()
            ),
            Self::FarAhead { known, found } => write!(
                f,
                "the clock said {} at the start, more than a day after {}, the newest time that was \
                 known; if it is right, confirm it: POST /api/admin/status/purge/confirm",
                timestamp::plain(*found),
                timestamp::plain(*known)
            ),
            Self::DaysDiffer(days) => write!(
                f,
                "API processes on this database have different deleteditems.purge.afterdays \
                 ({days:?}); give all of them the same and restart them"
            ),
        }
    }
}

/// What a process knows of its clock since its start.
#[derive(Debug)]
pub struct Guard {
    process: RowId,
    started: Duration,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    wall: OffsetDateTime,
    since_boot: Duration,
    /// The last confirmation that this process has acted on; `None` before its first look.
    confirmed: Option<String>,
    far_ahead: Option<Pause>,
}

/// What a start with fewer days than before brings nearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hastened {
    /// How many deleted items are purged earlier.
    pub items: usize,
    /// Days before.
    pub from: u32,
    /// Days now.
    pub to: u32,
}

impl Guard {
    /// Of the process `process`, which starts now.
    pub fn new(process: RowId, clock: &dyn Clock) -> Self {
        let (wall, since_boot) = (clock.now(), clock.since_boot());
        let inner = Inner { wall, since_boot, confirmed: None, far_ahead: None };
        Self { process, started: since_boot, inner: Mutex::new(inner) }
    }

    /// Whether the process runs long enough for its first purge.
    pub(super) fn may_begin(&self, state: &AppState) -> bool {
        state.clock.since_boot() - self.started >= state.config.first_purge_after
    }

    /// Says that this process is there: whoever changes something waits for its requests from then
    /// on.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn announce(&self, state: &AppState) -> Result<(), StoreError> {
        let now = state.clock.now();
        let own = ApiProcess {
            id: self.process,
            purge_after_days: state.config.purge_after_days,
            seen_at: now,
        };
        let mut write = state.store.begin().await?;
        write.see_api_process(own, now - GONE).await?;
        write.commit_unaudited(Unaudited::Processes).await
    }

    /// Says that this process is there, and looks at clock and numbers.
    pub(super) async fn look(&self, state: &AppState) -> Result<Option<Pause>, StoreError> {
        self.announce(state).await?;
        let now = state.clock.now();
        let newest = state.store.fact(NEWEST).await?.and_then(|text| text.parse().ok());
        let newest = newest.map(timestamp::from_millis);
        let confirmed = state.store.fact(CONFIRMED).await?.unwrap_or_default();
        let pause = match self.clock_pause(state, newest, confirmed) {
            Some(pause) => Some(pause),
            None => days_differ(state).await?,
        };
        if pause.is_none() && newest.is_none_or(|newest| newest < now) {
            let mut write = state.store.begin().await?;
            write.set_fact(NEWEST, &timestamp::to_millis(now).to_string()).await?;
            write.commit_unaudited(Unaudited::Processes).await?;
        }
        Ok(pause)
    }

    fn clock_pause(
        &self,
        state: &AppState,
        newest: Option<OffsetDateTime>,
        confirmed: String,
    ) -> Option<Pause> {
        let (now, since_boot) = (state.clock.now(), state.clock.since_boot());
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        match &inner.confirmed {
            None => {
                let found = inner.wall;
                inner.far_ahead = newest
                    .filter(|known| found - *known > OFF)
                    .map(|known| Pause::FarAhead { known, found });
                inner.confirmed = Some(confirmed);
            }
            // Whoever confirmed wrote down what time it is: that is no word on another clock.
            Some(known)
                if *known != confirmed
                    && newest.is_some_and(|newest| (now - newest).abs() <= DRIFT) =>
            {
                *inner =
                    Inner { wall: now, since_boot, confirmed: Some(confirmed), far_ahead: None };
            }
            Some(_) => {}
        }
        let drift = (now - inner.wall) - (since_boot - inner.since_boot);
        if drift.abs() > DRIFT { Some(Pause::ClockMoved(drift)) } else { inner.far_ahead.clone() }
    }

    /// Why nothing would be purged now.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn pause(&self, state: &AppState) -> Result<Option<Pause>, StoreError> {
        self.look(state).await
    }

    /// The clock is right: an administrator says so, for every process.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn confirm(&self, state: &AppState, by: &By) -> Result<(), ApiError> {
        // This process must know the last one, to see that this one is new.
        self.look(state).await?;
        let id: RowId = state.new_id();
        let mut write = state.store.begin().await?;
        write.set_fact(CONFIRMED, &id.to_string()).await?;
        let now = timestamp::to_millis(state.clock.now());
        write.set_fact(NEWEST, &now.to_string()).await?;
        write.commit_beside_inventory(state.audited("confirm", "status")).await?;
        tracing::warn!(username = by.username, "an administrator has confirmed the clock");
        Ok(())
    }

    /// The process ends: its days count no longer.
    pub(super) async fn leave(&self, state: &AppState) -> Result<(), StoreError> {
        let mut write = state.store.begin().await?;
        write.leave_api_process(self.process).await?;
        write.commit_unaudited(Unaudited::Processes).await
    }
}

/// When what is deleted now is deleted: no earlier than a time that was known to be right, or a clock
/// that is behind would have it purged too soon once it is put right.
pub(super) async fn moment_of_deletion(state: &AppState) -> Result<OffsetDateTime, StoreError> {
    let known = state.store.fact(NEWEST).await?.and_then(|text| text.parse().ok());
    Ok(known
        .map(timestamp::from_millis)
        .map_or(state.clock.now(), |known| known.max(state.clock.now())))
}

async fn days_differ(state: &AppState) -> Result<Option<Pause>, StoreError> {
    let processes = state.store.api_processes().await?;
    let mut days: Vec<u32> = processes.iter().map(|process| process.purge_after_days).collect();
    days.sort_unstable();
    days.dedup();
    Ok((days.len() > 1).then_some(Pause::DaysDiffer(days)))
}

/// Keeps the days of this start; says what fewer than before bring nearer.
pub(super) async fn note_days(state: &AppState) -> Result<Option<Hastened>, StoreError> {
    let to = state.config.purge_after_days;
    let before: Option<u32> = state.store.fact(DAYS).await?.and_then(|text| text.parse().ok());
    let Some(from) = before.filter(|from| *from > to) else {
        if before != Some(to) {
            set_days(state, to).await?;
        }
        return Ok(None);
    };
    set_days(state, to).await?;
    let items = super::Items::new(state.store.retained().await?, super::retention(state));
    let items = items.deleted().len();
    if items > 0 {
        tracing::warn!(items, from, to, "deleted items are purged earlier than before this start");
    }
    Ok((items > 0).then_some(Hastened { items, from, to }))
}

async fn set_days(state: &AppState, days: u32) -> Result<(), StoreError> {
    let mut write = state.store.begin().await?;
    write.set_fact(DAYS, &days.to_string()).await?;
    let entry = state.audited("change", "deleteditems.purge.afterdays");
    write.commit_beside_inventory(entry.after(json!({"days": days}))).await
}
