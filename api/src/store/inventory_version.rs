//! Which state of the inventory the database holds: what was read under one version is as good as
//! a new look for as long as the version stands.
//!
//! The inventory is what administrators make: users, teams, profiles, Key Stores, Local CAs and
//! Certificate Issuers, and who may use what.

use super::row::At;
use super::{StoreError, Write};

const TABLE: &str = "installation";

/// For statements that read the version along with their own columns; `NULL` before the first change.
macro_rules! inventory_version {
    () => {
        "(SELECT value FROM installation WHERE name = 'inventory-version') AS inventory_version"
    };
}
pub(super) use inventory_version;

statements! {
    /// A number as text, as every fact is.
    RAISE = "
        INSERT INTO installation (name, value) VALUES ('inventory-version', '1')
        ON CONFLICT (name) DO UPDATE
           SET value = CAST(CAST(installation.value AS BIGINT) + 1 AS TEXT)";
}

/// One state of the inventory; another one has another number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InventoryVersion(u64);

impl InventoryVersion {
    pub(super) fn read(stored: Option<&str>) -> Result<Self, StoreError> {
        let Some(stored) = stored else { return Ok(Self::default()) };
        let at = At { table: TABLE, row: "inventory-version" };
        Ok(Self(at.parse("value", stored)?))
    }
}

impl Write {
    /// Part of every transaction that may have changed the inventory.
    pub(super) async fn raise_inventory_version(&mut self) -> Result<(), StoreError> {
        let done = sqlx::query(RAISE).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
