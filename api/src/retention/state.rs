//! The states of an item as types. One that is gone has none: it has no row.

use std::num::NonZeroU32;

use time::{Duration, OffsetDateTime};

/// How long a deleted item can be restored: `deleteditems.purge.afterdays`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// So many days.
    Days(NonZeroU32),
    /// What is deleted is gone.
    None,
}

impl From<u32> for Retention {
    fn from(days: u32) -> Self {
        NonZeroU32::new(days).map_or(Self::None, Self::Days)
    }
}

impl Retention {
    /// When what was deleted at `deleted_at` can't be restored any more.
    pub fn purge_at(self, deleted_at: OffsetDateTime) -> OffsetDateTime {
        match self {
            Self::None => deleted_at,
            Self::Days(days) => {
                let kept_for =
                    Duration::DAY.saturating_mul(i32::try_from(days.get()).unwrap_or(i32::MAX));
                // The calendar ends; nothing is kept for longer.
                deleted_at.saturating_add(kept_for)
            }
        }
    }
}

/// An item in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Live<T>(pub(super) T);

/// An item that can be restored until its purge is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deleted<T> {
    item: T,
    purge_at: OffsetDateTime,
}

/// What a deletion leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deletion<T> {
    /// The item can be restored.
    Kept(Deleted<T>),
    /// Nothing is kept.
    Gone(T),
}

/// The purge is due, even if it has not run yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLate {
    /// Since when.
    pub purge_at: OffsetDateTime,
}

impl<T> Live<T> {
    /// Takes the item out of use.
    pub fn delete(self, retention: Retention, now: OffsetDateTime) -> Deletion<T> {
        match retention {
            Retention::None => Deletion::Gone(self.0),
            Retention::Days(_) => Deletion::Kept(Deleted::new(self.0, retention.purge_at(now))),
        }
    }
}

impl<T> Deleted<T> {
    pub(super) fn new(item: T, purge_at: OffsetDateTime) -> Self {
        Self { item, purge_at }
    }

    /// When it can't be restored any more.
    pub fn purge_at(&self) -> OffsetDateTime {
        self.purge_at
    }

    /// Brings the item back.
    ///
    /// # Errors
    ///
    /// [`TooLate`] once the purge is due, even if it has not run yet.
    pub fn restore(self, now: OffsetDateTime) -> Result<Live<T>, TooLate> {
        let Self { item, purge_at } = self;
        if now < purge_at { Ok(Live(item)) } else { Err(TooLate { purge_at }) }
    }
}
