//! Which state of the inventory the database holds: what was read under one version is as good as
//! a new look for as long as the version stands.
//!
//! The inventory is what requests are judged by: users, teams, profiles, Key Stores, Local CAs and
//! Certificate Issuers, who may use what, and which tokens were ended.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as Lock, PoisonError};
use std::time::{Duration, Instant};

use chancery_shared::hexadecimal;
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::engine::{ACQUIRE_TIMEOUT, EngineName};
use super::row::At;
use super::{Store, StoreError, Write};
use crate::random::{Random as _, SystemRandom};

const TABLE: &str = "installation";

statements! {
    VERSION = "SELECT value FROM installation WHERE name = 'inventory-version'";
    CHANGE = "
        INSERT INTO installation (name, value) VALUES ('inventory-version', $1)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
}

/// One state of the inventory; any other state has another one. Random, so that a database that has
/// lost its last changes never comes to a version that was seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InventoryVersion(u128);

/// On SQLite a reading serves for so long, and a change is answered so much later than it is
/// committed: then it is seen by all. Readings are many, and changes are rare.
const UNSEEN: Duration = Duration::from_millis(5);

/// Requests that come while the version is being read share the next reading.
#[derive(Debug, Default)]
pub(super) struct Readings {
    arrivals: AtomicU64,
    latest: Mutex<Reading>,
    begun: AtomicU64,
    ended: AtomicU64,
    kept: Lock<Option<Kept>>,
}

/// A reading that serves for a moment, unless this program changes the inventory meanwhile.
#[derive(Clone, Copy, Debug)]
struct Kept {
    version: InventoryVersion,
    began: Instant,
    changes: u64,
}

/// What a transaction of this program does to the inventory, until it is committed, undone or given
/// up: a commit that nobody waits for any more is answered to nobody.
#[derive(Debug)]
pub(super) struct InventoryChange {
    readings: Arc<Readings>,
    has_begun: bool,
}

impl InventoryChange {
    /// Nothing yet.
    pub(super) fn none(readings: Arc<Readings>) -> Self {
        Self { readings, has_begun: false }
    }

    /// How long after its commit other processes may still not see it.
    pub(super) fn unseen(&self, engine: EngineName) -> Duration {
        match engine {
            EngineName::Sqlite if self.has_begun => UNSEEN,
            EngineName::Sqlite | EngineName::Postgres => Duration::ZERO,
        }
    }

    fn begin(&mut self) {
        if !self.has_begun {
            self.readings.begun.fetch_add(1, Ordering::SeqCst);
            self.has_begun = true;
        }
    }
}

impl Drop for InventoryChange {
    fn drop(&mut self) {
        if self.has_begun {
            self.readings.ended.fetch_add(1, Ordering::SeqCst);
        }
    }
}

/// A reading, good for everyone who came before it began.
#[derive(Debug, Default)]
struct Reading {
    /// So many had come.
    covers: u64,
    version: InventoryVersion,
    /// Kept on SQLite, whose file does not go away: its pages and its statement stay warm.
    connection: Option<PoolConnection<Any>>,
}

impl Readings {
    /// Gives the connection back to its pool.
    pub(super) async fn leave(&self) {
        self.latest.lock().await.connection.take();
    }

    /// How many changes of this program have ended; `None` while there is one.
    fn changes(&self) -> Option<u64> {
        // In this order: a change that begins in between shows as one.
        let ended = self.ended.load(Ordering::SeqCst);
        (self.begun.load(Ordering::SeqCst) == ended).then_some(ended)
    }

    fn kept(&self, now: Instant) -> Option<InventoryVersion> {
        let kept = (*self.kept.lock().unwrap_or_else(PoisonError::into_inner))?;
        let is_young = now.saturating_duration_since(kept.began) < UNSEEN;
        (is_young && self.changes() == Some(kept.changes)).then_some(kept.version)
    }

    fn keep(&self, kept: Kept) {
        *self.kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(kept);
    }
}

impl Store {
    /// The state of the inventory now, or at a moment after this was called; on SQLite it may lack what
    /// another process has changed and not answered yet.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn inventory_version(&self) -> Result<InventoryVersion, StoreError> {
        if let Some(version) = self.readings().kept(Instant::now()) {
            return Ok(version);
        }
        // The connection of whoever reads may be dead, and nobody is to wait for that. Boxed: every
        // request would carry the room for it.
        let late = |_| StoreError::of(TABLE)(sqlx::Error::PoolTimedOut);
        Box::pin(timeout(ACQUIRE_TIMEOUT, self.share_reading())).await.map_err(late)?
    }

    async fn share_reading(&self) -> Result<InventoryVersion, StoreError> {
        let readings = self.readings();
        let arrival = readings.arrivals.fetch_add(1, Ordering::SeqCst);
        let mut latest = readings.latest.lock().await;
        if arrival < latest.covers {
            return Ok(latest.version);
        }
        let covers = readings.arrivals.load(Ordering::SeqCst);
        // Where this fails, or is given up, the next one reads for itself.
        let mut connection = match latest.connection.take() {
            Some(kept) => kept,
            None => self.pool().acquire().await.map_err(StoreError::of(TABLE))?,
        };
        let (began, changes) = (Instant::now(), readings.changes());
        let version = read(&mut connection).await?;
        // A reading of PostgreSQL is good for those alone who came before it: its processes are many.
        let connection = (self.engine() == EngineName::Sqlite).then_some(connection);
        if let (Some(_), Some(changes)) = (&connection, changes) {
            readings.keep(Kept { version, began, changes });
        }
        *latest = Reading { covers, version, connection };
        Ok(version)
    }
}

async fn read(connection: &mut AnyConnection) -> Result<InventoryVersion, StoreError> {
    let stored: Option<String> = sqlx::query_scalar(VERSION)
        .fetch_optional(connection)
        .await
        .map_err(StoreError::of(TABLE))?;
    let Some(stored) = stored else { return Ok(InventoryVersion::default()) };
    let at = At { table: TABLE, row: "inventory-version" };
    let version = u128::from_str_radix(&stored, 16);
    version.map(InventoryVersion).map_err(|_| at.unreadable("value"))
}

impl Write {
    /// Part of every transaction that may have changed the inventory.
    pub(super) async fn change_inventory_version(&mut self) -> Result<(), StoreError> {
        self.inventory_change().begin();
        let mut version = [0; 16];
        SystemRandom.fill(&mut version);
        let done =
            sqlx::query(CHANGE).bind(hexadecimal::encode(version)).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}

#[cfg(test)]
mod tests;
