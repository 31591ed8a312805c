//! Transactions that write.

use std::sync::Arc;

use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, Executor as _};

use super::StoreError;
use super::engine::EngineName;
use super::health::Health;
use super::seat::Seated;

/// A transaction that writes. What is dropped is undone by ending its connection: a full disk can
/// have ended the transaction already, and nobody could tell what a rollback would do then.
#[derive(Debug)]
pub struct Write {
    connection: Lent,
    is_over: bool,
    health: Arc<Health>,
}

/// The connection of a transaction.
#[derive(Debug)]
pub(super) enum Lent {
    Seated(Seated),
    Pooled(PoolConnection<Any>),
}

impl Lent {
    fn get(&mut self) -> &mut AnyConnection {
        match self {
            Self::Seated(seated) => seated.connection(),
            Self::Pooled(connection) => connection,
        }
    }
}

impl Write {
    /// On a connection that has no transaction yet.
    pub(super) fn before_begin(connection: Lent, health: Arc<Health>) -> Self {
        Self { connection, is_over: false, health }
    }

    /// Makes what was written durable and visible, and lets every process look at the inventory
    /// anew.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`]; then nothing was written, or the connection broke and it is
    /// not known.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.change_inventory_version().await?;
        self.commit_beside_inventory().await
    }

    /// The same for what is no part of the inventory: records, logins, leases, facts.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub async fn commit_beside_inventory(mut self) -> Result<(), StoreError> {
        self.say("COMMIT").await?;
        self.is_committed();
        Ok(())
    }

    /// Ends a transaction that was to hold something and has changed nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub async fn let_go(self) -> Result<(), StoreError> {
        self.commit_beside_inventory().await
    }

    /// What this transaction removes must not stay in the log.
    pub(super) fn leaves_old_pages(&self) {
        self.health.has_old_pages();
    }

    pub(super) fn is_committed(&mut self) {
        self.is_over = true;
        self.health.is_well();
        metrics::counter!("chancery_store_commits_total").increment(1);
    }

    /// Of this transaction.
    pub(super) fn engine(&self) -> EngineName {
        match self.connection {
            Lent::Seated(_) => EngineName::Sqlite,
            Lent::Pooled(_) => EngineName::Postgres,
        }
    }

    /// Where statements of this transaction go.
    pub(super) fn connection(&mut self) -> &mut AnyConnection {
        self.connection.get()
    }

    pub(super) async fn say(&mut self, statement: &'static str) -> Result<(), StoreError> {
        let said = self.connection().execute(statement).await;
        said.map(drop).map_err(StoreError::of("any"))
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if !self.is_over {
            self.health.is_doubtful();
            match &mut self.connection {
                Lent::Seated(seated) => seated.spoil(),
                Lent::Pooled(connection) => connection.close_on_drop(),
            }
        }
    }
}
