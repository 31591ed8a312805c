//! The highest journal entry known of each signer, and how far reconciliation has read.

use chancery_shared::bytes::{Fixed, Hash};
use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use futures::future::BoxFuture;
use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::Query;

use super::row::{At, signed};
use super::{Store, StoreError, Write};
use crate::signer_client::{HeadsUnknown, JournalHeads};

const TABLE: &str = "journal_head";

statements! {
    HEADS = "
        SELECT signer_id, seq, hash, reconciled_seq, reconciled_hash
          FROM journal_head
         ORDER BY signer_id";
    /// Upward only: a late reply never takes back what a later one said.
    RAISE = "
        INSERT INTO journal_head (signer_id, seq, hash, reconciled_seq, reconciled_hash)
        VALUES ($1, $2, $3, 0, $4)
        ON CONFLICT (signer_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash
         WHERE journal_head.seq < excluded.seq";
    SET_RECONCILED = "
        UPDATE journal_head
           SET reconciled_seq = $2, reconciled_hash = $3
         WHERE signer_id = $1 AND reconciled_seq < $2";
}

/// What is known of one signer's journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownJournal {
    /// The highest entry known.
    pub head: JournalHead,
    /// Reconciliation has read up to this entry; 0 before the first.
    pub reconciled_seq: u64,
    /// The hash of that entry; zeros before the first.
    pub reconciled_hash: Hash,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    signer_id: String,
    seq: i64,
    hash: String,
    reconciled_seq: i64,
    reconciled_hash: String,
}

impl TryFrom<Row> for KnownJournal {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let Row { signer_id, seq, hash, reconciled_seq, reconciled_hash } = row;
        let at = At { table: TABLE, row: &signer_id };
        Ok(Self {
            head: JournalHead {
                signer_id: at.parse("signer_id", &signer_id)?,
                seq: at.unsigned("seq", seq)?,
                hash: at.parse("hash", &hash)?,
            },
            reconciled_seq: at.unsigned("reconciled_seq", reconciled_seq)?,
            reconciled_hash: at.parse("reconciled_hash", &reconciled_hash)?,
        })
    }
}

impl JournalHeads for Store {
    fn journal_heads(&self) -> BoxFuture<'_, Result<Vec<JournalHead>, HeadsUnknown>> {
        Box::pin(async {
            let known = self.known_journals().await.map_err(|error| {
                tracing::error!(error = %crate::log::Chain(&error), "no journal heads for the signer");
                HeadsUnknown
            })?;
            Ok(known.into_iter().map(|known| known.head).collect())
        })
    }
}

impl Store {
    /// What is known of every signer's journal.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn known_journals(&self) -> Result<Vec<KnownJournal>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(HEADS).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(KnownJournal::try_from).collect()
    }
}

/// The statement of [`Write::raise_journal_head`] as SQLite takes it among others in one text.
pub(super) fn raise_among_others() -> String {
    (1..=4).fold(RAISE.to_owned(), |sql, parameter| sql.replace(&format!("${parameter}"), "?"))
}

/// Binds what that statement takes.
pub(super) fn bind_raise<'q>(
    head: &JournalHead,
    query: Query<'q, Any, AnyArguments>,
) -> Query<'q, Any, AnyArguments> {
    query
        .bind(head.signer_id.to_string())
        .bind(signed(head.seq))
        .bind(head.hash.to_string())
        .bind(Fixed([0; 32]).to_string())
}

impl Write {
    /// Remembers `head`, unless a higher one of this signer is known.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn raise_journal_head(&mut self, head: &JournalHead) -> Result<(), StoreError> {
        let done = bind_raise(head, sqlx::query(RAISE)).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Remembers that reconciliation has read up to entry `seq`; never goes back.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_reconciled(
        &mut self,
        signer_id: SignerId,
        seq: u64,
        hash: Hash,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(SET_RECONCILED)
            .bind(signer_id.to_string())
            .bind(signed(seq))
            .bind(hash.to_string())
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
