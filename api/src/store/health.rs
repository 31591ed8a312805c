//! How the database fares, as far as is known here.

use std::sync::atomic::{AtomicBool, Ordering};

use super::engine::EngineName;
use super::{Store, StoreError, Unaudited};
use crate::random::{Random as _, SystemRandom};
use chancery_shared::hexadecimal;

#[derive(Debug)]
pub(super) struct Health {
    /// The last transaction that wrote was undone, for whatever reason: the disk may be full.
    is_in_doubt: AtomicBool,
    /// SQLite's log may hold pages with what was to be forgotten. True at first: a process before
    /// this one may not have come to it.
    has_old_pages: AtomicBool,
    /// Held by whoever looks whether it still is in doubt.
    probe: tokio::sync::Mutex<()>,
}

impl Health {
    pub(super) fn at_start() -> Self {
        Self {
            is_in_doubt: AtomicBool::new(false),
            has_old_pages: AtomicBool::new(true),
            probe: tokio::sync::Mutex::default(),
        }
    }

    pub(super) fn is_doubtful(&self) {
        self.is_in_doubt.store(true, Ordering::Release);
    }

    pub(super) fn has_old_pages(&self) {
        self.has_old_pages.store(true, Ordering::Release);
    }

    pub(super) fn is_well(&self) {
        self.is_in_doubt.store(false, Ordering::Release);
    }
}

impl Store {
    /// Whether the database answers; where the last write failed, whether it takes one.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] where it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let found = sqlx::query(PING).execute(self.pool()).await;
        found.map(drop).map_err(StoreError::of("installation"))?;
        if !self.health.is_in_doubt.load(Ordering::Acquire) {
            return Ok(());
        }
        let _alone = self.health.probe.lock().await;
        if !self.health.is_in_doubt.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut write = self.begin().await?;
        // SQLite writes no page for what stands there already.
        let mut value = [0; 8];
        SystemRandom.fill(&mut value);
        write.set_fact(PROBE, &hexadecimal::encode(value)).await?;
        write.commit_unaudited(Unaudited::Probe).await
    }

    /// Lets nothing that was deleted stand in a file: SQLite's log still has the pages as they
    /// were, until it is emptied. PostgreSQL's own cleaning does the like in its time. Where a long
    /// read is in the way, the next call tries again.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn forget_old_pages(&self) -> Result<(), StoreError> {
        let had_some = self.health.has_old_pages.swap(false, Ordering::AcqRel);
        if self.engine() == EngineName::Postgres || !had_some {
            return Ok(());
        }
        let emptied: Result<(i64, i64, i64), _> =
            sqlx::query_as(EMPTY_LOG).fetch_one(self.pool()).await;
        match emptied {
            Ok((0, ..)) => {}
            Ok(_) => {
                self.health.has_old_pages();
                tracing::warn!("a long read keeps the log of SQLite from being emptied now");
            }
            Err(error) => {
                self.health.has_old_pages();
                return Err(StoreError::of("any")(error));
            }
        }
        Ok(())
    }
}

const PING: &str = "SELECT name FROM installation WHERE name = ''";

const EMPTY_LOG: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

/// A fact that says nothing: changing it shows that the database takes writes.
const PROBE: &str = "probe";
