//! Transactions that write.

use std::sync::Arc;
use std::time::Duration;

use sqlx::any::AnyArguments;
use sqlx::pool::PoolConnection;
use sqlx::{Any, AnyConnection, Executor as _};
use tokio::sync::OwnedMutexGuard;
use tokio::time::timeout;

use super::StoreError;
use super::audit::{AuditChain, AuditEntry};
use super::engine::EngineName;
use super::health::Health;
use super::inventory_version::InventoryChange;
use super::seat::Seated;

/// A transaction that writes. What is dropped is undone by ending its connection: a full disk can
/// have ended the transaction already, and nobody could tell what a rollback would do then.
#[derive(Debug)]
pub struct Write {
    connection: Lent,
    is_over: bool,
    health: Arc<Health>,
    chain: AuditChain,
    inventory_change: InventoryChange,
    /// The next one's turn comes when it is over.
    _turn: Option<OwnedMutexGuard<()>>,
}

/// What is committed without an entry in the audit, since nobody did anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unaudited {
    /// Nothing: what was to be written was looked at and left.
    Nothing,
    /// Which process does a job now.
    Lease,
    /// How far the signer's journal is known.
    JournalHead,
    /// The index of texts, which follows the records.
    TextIndex,
    /// Whether the database takes writes.
    Probe,
    /// The count of failed logins. What is told of them goes with the answer, where a flood of them
    /// is told as one.
    LoginCount,
    /// That a step of the first start is done; what it made has entries of its own.
    FirstStartStep,
    /// What a run of a job came to; what it changed has entries of its own.
    JobRun,
    /// Which processes run, under which clock.
    Processes,
    /// How far the making or the end of a Local CA is. That it begins, lives, is deleted or taken back
    /// has an entry.
    LocalCaStep,
    /// What a test needs to be there.
    #[cfg(test)]
    Fixture,
}

impl Unaudited {
    fn changes_inventory(self) -> bool {
        match self {
            Self::Nothing
            | Self::Lease
            | Self::JournalHead
            | Self::TextIndex
            | Self::Probe
            | Self::JobRun
            | Self::Processes
            | Self::LoginCount => false,
            Self::FirstStartStep | Self::LocalCaStep => true,
            #[cfg(test)]
            Self::Fixture => true,
        }
    }
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
    pub(super) fn before_begin(
        connection: Lent,
        health: Arc<Health>,
        chain: AuditChain,
        inventory_change: InventoryChange,
        turn: Option<OwnedMutexGuard<()>>,
    ) -> Self {
        Self { connection, is_over: false, health, chain, inventory_change, _turn: turn }
    }

    /// Makes what was written durable and visible together with `entry` of the audit, and lets every
    /// process look at the inventory anew.
    ///
    /// # Errors
    ///
    /// Then nothing was written, no entry either; or, where the connection broke, it is not known.
    pub async fn commit(mut self, entry: impl Into<AuditEntry>) -> Result<(), StoreError> {
        self.change_inventory_version().await?;
        self.commit_beside_inventory(entry).await
    }

    /// The same for what is no part of the inventory: records, logins, facts.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub async fn commit_beside_inventory(
        self,
        entry: impl Into<AuditEntry>,
    ) -> Result<(), StoreError> {
        self.commit_with(&[&entry.into()]).await
    }

    /// The same with an entry for each of several things.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub(super) async fn commit_with(mut self, entries: &[&AuditEntry]) -> Result<(), StoreError> {
        let ended = async {
            let lengthening = self.add_to_audit(entries).await?;
            self.say("COMMIT").await?;
            lengthening.end();
            Ok(())
        };
        // A server that falls silent must not keep everyone from the end of the chain.
        let ended = timeout(COMMIT_WITHIN, ended).await;
        ended.unwrap_or_else(|_| Err(StoreError::of("audit")(sqlx::Error::PoolTimedOut)))?;
        self.is_committed();
        self.be_seen().await;
        Ok(())
    }

    /// Commits what no auditor asks for.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub async fn commit_unaudited(mut self, why: Unaudited) -> Result<(), StoreError> {
        if why.changes_inventory() {
            self.change_inventory_version().await?;
        }
        self.say("COMMIT").await?;
        self.is_committed();
        self.be_seen().await;
        Ok(())
    }

    /// Returns when no process judges any more by what it read before this was committed.
    async fn be_seen(self) {
        let unseen = self.inventory_change.unseen(self.engine());
        // Others may write meanwhile.
        drop(self);
        if unseen > Duration::ZERO {
            tokio::time::sleep(unseen).await;
        }
    }

    /// Ends a transaction that was to hold something and has changed nothing.
    ///
    /// # Errors
    ///
    /// As [`Self::commit`].
    pub async fn let_go(self) -> Result<(), StoreError> {
        self.commit_unaudited(Unaudited::Nothing).await
    }

    pub(super) fn inventory_change(&mut self) -> &mut InventoryChange {
        &mut self.inventory_change
    }

    /// What this transaction removes must not stay in the log.
    pub(super) fn leaves_old_pages(&self) {
        self.health.has_old_pages();
    }

    /// Runs a whole transaction, its beginning and its end included, as one text on SQLite: one
    /// hand-over to the engine and back instead of one for each statement.
    ///
    /// # Errors
    ///
    /// Whatever failed, nothing was written, but for a connection that broke during the commit.
    pub(super) async fn run_whole(
        mut self,
        table: &'static str,
        transaction: sqlx::query::Query<'_, Any, AnyArguments>,
    ) -> Result<(), StoreError> {
        transaction.execute(self.connection()).await.map_err(StoreError::of(table))?;
        self.is_committed();
        Ok(())
    }

    /// Ends one that has not begun: its connection is as good as before.
    pub(super) fn leave(mut self) {
        self.is_over = true;
    }

    fn is_committed(&mut self) {
        self.is_over = true;
        self.health.is_well();
        metrics::counter!("chancery_store_commits_total").increment(1);
    }

    /// Where its entries are chained.
    pub(super) fn chain(&self) -> &AuditChain {
        &self.chain
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

const COMMIT_WITHIN: Duration = Duration::from_secs(10);

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
