//! Which state of the inventory the database holds: what was read under one version is as good as
//! a new look for as long as the version stands.
//!
//! The inventory is what requests are judged by: users, teams, profiles, Key Stores, Local CAs and
//! Certificate Issuers, who may use what, and which tokens were ended.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;

use super::row::At;
use super::{Store, StoreError, Write};

const TABLE: &str = "installation";

statements! {
    VERSION = "SELECT value FROM installation WHERE name = 'inventory-version'";
    /// A number as text, as every fact is.
    RAISE = "
        INSERT INTO installation (name, value) VALUES ('inventory-version', '1')
        ON CONFLICT (name) DO UPDATE
           SET value = CAST(CAST(installation.value AS BIGINT) + 1 AS TEXT)";
}

/// One state of the inventory; another one has another number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InventoryVersion(u64);

/// Requests that come while the version is being read share the next reading.
#[derive(Debug, Default)]
pub(super) struct Readings {
    arrivals: AtomicU64,
    latest: Mutex<Reading>,
}

/// A reading, good for everyone who came before it began.
#[derive(Debug, Default)]
struct Reading {
    /// So many had come.
    covers: u64,
    /// `None` where the database failed.
    version: Option<InventoryVersion>,
}

impl Store {
    /// The state of the inventory now, or at a moment after this was called.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn inventory_version(&self) -> Result<InventoryVersion, StoreError> {
        let readings = self.readings();
        let arrival = readings.arrivals.fetch_add(1, Ordering::SeqCst);
        let mut latest = readings.latest.lock().await;
        if arrival < latest.covers {
            // Whoever read has the cause.
            let failed = || StoreError::of(TABLE)(sqlx::Error::PoolTimedOut);
            return latest.version.ok_or_else(failed);
        }
        let covers = readings.arrivals.load(Ordering::SeqCst);
        let read = self.read_inventory_version().await;
        // Not before: a caller that goes away while it reads leaves the reading to the next.
        *latest = Reading { covers, version: read.as_ref().ok().copied() };
        read
    }

    async fn read_inventory_version(&self) -> Result<InventoryVersion, StoreError> {
        let stored: Option<String> = sqlx::query_scalar(VERSION)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let Some(stored) = stored else { return Ok(InventoryVersion::default()) };
        let at = At { table: TABLE, row: "inventory-version" };
        Ok(InventoryVersion(at.parse("value", &stored)?))
    }
}

impl Write {
    /// Part of every transaction that may have changed the inventory.
    pub(super) async fn raise_inventory_version(&mut self) -> Result<(), StoreError> {
        let done = sqlx::query(RAISE).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
