//! The chain of this process: each entry holds the hash of the one before, so that what is changed,
//! taken out or put in later shows.

use std::sync::Arc;

use aws_lc_rs::digest::{Context, SHA256};
use chancery_shared::bytes::{Fixed, Hash};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::row::{self, ChainedEntry};
use super::{AuditEntry, TABLE};
use crate::store::many_rows::Bound;
use crate::store::{Store, StoreError, Write};
use crate::timestamp::to_millis;

const CHAIN: &str = "audit_chain";

statements! {
    NEWEST_CHAIN = "
        SELECT chain_no, last_entry_no, last_hash FROM audit_chain
         ORDER BY chain_no DESC LIMIT 1";
    OPEN = "
        INSERT INTO audit_chain (chain_no, opened_at, previous_entry_no, previous_hash,
                                 last_entry_no, last_hash)
        VALUES ($1, $2, $3, $4, 0, $5)
        ON CONFLICT (chain_no) DO NOTHING";
    /// Waits for a transaction of ours whose end nobody knows, by the lock that it has on the row.
    FIND_AGAIN = "
        UPDATE audit_chain SET last_entry_no = last_entry_no WHERE chain_no = $1
        RETURNING chain_no, last_entry_no, last_hash";
    SET_HEAD = "UPDATE audit_chain SET last_entry_no = $1, last_hash = $2 WHERE chain_no = $3";
}

/// The end of this process's chain. It is held from the hash of an entry to the end of its
/// transaction: within one process, commits that have entries come one after the other.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct AuditChain(Arc<Mutex<End>>);

#[derive(Clone, Copy, Debug, Default)]
enum End {
    /// The first entry opens the chain: a process that writes nothing leaves none.
    #[default]
    Unopened,
    AuditHeads(Head),
    /// A commit broke off, and only the database knows how it ended.
    Unknown {
        chain_no: i64,
    },
}

/// The last entry of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) chain_no: i64,
    pub(super) entry_no: i64,
    pub(super) hash: Hash,
}

#[derive(Debug, sqlx::FromRow)]
struct HeadRow {
    chain_no: i64,
    last_entry_no: i64,
    last_hash: Vec<u8>,
}

impl TryFrom<HeadRow> for Head {
    type Error = StoreError;

    fn try_from(row: HeadRow) -> Result<Self, StoreError> {
        let HeadRow { chain_no, last_entry_no: entry_no, last_hash } = row;
        let hash = row::hash(&last_hash).ok_or_else(|| StoreError::Unreadable {
            table: CHAIN,
            row: chain_no.to_string(),
            column: "last_hash",
        })?;
        Ok(Self { chain_no, entry_no, hash })
    }
}

/// The end of the chain while a transaction makes it longer. Dropped before [`Self::end`],
/// the next one asks the database where the chain ends.
pub(in crate::store) struct Lengthening {
    end: OwnedMutexGuard<End>,
    head: Head,
}

impl AuditChain {
    /// Takes the end of the chain, if it is known without a look into the database.
    pub(in crate::store) async fn take_known(&self) -> Option<Lengthening> {
        let end = Arc::clone(&self.0).lock_owned().await;
        let End::AuditHeads(head) = *end else { return None };
        Some(Lengthening::new(end, head))
    }

    /// What this process knows of the end of its own chain.
    pub(super) async fn known(&self) -> Option<Head> {
        match *self.0.lock().await {
            End::AuditHeads(head) => Some(head),
            End::Unopened | End::Unknown { .. } => None,
        }
    }
}

impl Lengthening {
    fn new(mut end: OwnedMutexGuard<End>, head: Head) -> Self {
        // Until the transaction is known to be over.
        if let End::AuditHeads(Head { chain_no, .. }) = *end {
            *end = End::Unknown { chain_no };
        }
        Self { end, head }
    }

    /// Chains `entries`, in their order.
    pub(in crate::store) fn chain<'a>(
        &mut self,
        entries: impl IntoIterator<Item = &'a AuditEntry>,
    ) -> Vec<ChainedEntry<'a>> {
        let chain_no = self.head.chain_no;
        let chained = entries.into_iter().map(|entry| {
            let entry_no = self.head.entry_no + 1;
            let hash = next_hash(self.head.hash, chain_no, entry_no, entry);
            self.head = Head { chain_no, entry_no, hash };
            ChainedEntry { chain_no, entry_no, entry, hash }
        });
        chained.collect()
    }

    /// Its transaction is durable.
    pub(in crate::store) fn end(mut self) {
        *self.end = End::AuditHeads(self.head);
    }
}

impl Store {
    /// Adds `entries` to the audit, and writes nothing else.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then none of them is there, or it is not known.
    pub async fn add_audit_entries(&self, entries: &[AuditEntry]) -> Result<(), StoreError> {
        let entries: Vec<_> = entries.iter().collect();
        self.begin().await?.commit_with(&entries).await
    }
}

impl Write {
    /// Adds `entries` to the audit. Last in the transaction: whoever holds the end of the chain
    /// waits for nothing but the database.
    pub(in crate::store) async fn add_to_audit(
        &mut self,
        entries: &[&AuditEntry],
    ) -> Result<Lengthening, StoreError> {
        let end = Arc::clone(&self.chain().0).lock_owned().await;
        let known = match *end {
            End::AuditHeads(head) => Some(head),
            End::Unknown { chain_no } => self.find_again(chain_no).await?,
            End::Unopened => None,
        };
        let head = match known {
            Some(head) => head,
            None => self.open(entries).await?,
        };
        let mut lengthening = Lengthening::new(end, head);
        let rows = lengthening.chain(entries.iter().copied());
        self.insert_rows(&rows).await?;
        let query = bind_head(&lengthening, sqlx::query(SET_HEAD));
        query.execute(self.connection()).await.map_err(StoreError::of(TABLE))?;
        Ok(lengthening)
    }

    async fn find_again(&mut self, chain_no: i64) -> Result<Option<Head>, StoreError> {
        let found: Option<HeadRow> = sqlx::query_as(FIND_AGAIN)
            .bind(chain_no)
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of(CHAIN))?;
        found.map(Head::try_from).transpose()
    }

    /// Begins a chain behind all that there are.
    async fn open(&mut self, entries: &[&AuditEntry]) -> Result<Head, StoreError> {
        let opened_at = entries.first().map_or(0, |entry| to_millis(entry.happened_at));
        for _ in 0..ATTEMPTS {
            let newest: Option<HeadRow> = sqlx::query_as(NEWEST_CHAIN)
                .fetch_optional(self.connection())
                .await
                .map_err(StoreError::of(CHAIN))?;
            let newest = newest.map(Head::try_from).transpose()?;
            let previous =
                newest.unwrap_or(Head { chain_no: 0, entry_no: 0, hash: Fixed([0; 32]) });
            let chain_no = previous.chain_no + 1;
            let hash = first_hash(chain_no, opened_at, previous.entry_no, previous.hash);
            let done = sqlx::query(OPEN)
                .bind(chain_no)
                .bind(opened_at)
                .bind(previous.entry_no)
                .bind(&previous.hash.0[..])
                .bind(&hash.0[..])
                .execute(self.connection())
                .await
                .map_err(StoreError::of(CHAIN))?;
            if done.rows_affected() == 1 {
                return Ok(Head { chain_no, entry_no: 0, hash });
            }
            // Another process that starts at the same time has taken the number.
        }
        Err(StoreError::of(CHAIN)(sqlx::Error::PoolTimedOut))
    }
}

/// The statement that remembers the head, as SQLite takes it among others in one text.
pub(in crate::store) fn among_others() -> String {
    (1..=3).fold(SET_HEAD.to_owned(), |sql, parameter| sql.replace(&format!("${parameter}"), "?"))
}

/// Binds what that statement takes.
pub(in crate::store) fn bind_head<'q>(lengthening: &Lengthening, query: Bound<'q>) -> Bound<'q> {
    let Head { chain_no, entry_no, hash } = lengthening.head;
    query.bind(entry_no).bind(hash.0.to_vec()).bind(chain_no)
}

/// What the first entry of a chain is chained to: the chain before, as it was then.
pub(super) fn first_hash(
    chain_no: i64,
    opened_at: i64,
    previous_entry_no: i64,
    previous_hash: Hash,
) -> Hash {
    let mut hash = Context::new(&SHA256);
    hash.update(b"chancery audit chain 1\0");
    for number in [chain_no, opened_at, previous_entry_no] {
        hash.update(&number.to_be_bytes());
    }
    hash.update(&previous_hash.0);
    finish(hash)
}

/// The hash of an entry: over the hash before it, its numbers, and every field with its length in
/// front, so that no two entries say the same bytes. docs/ARCHITECTURE.md has it in words.
pub(super) fn next_hash(before: Hash, chain_no: i64, entry_no: i64, entry: &AuditEntry) -> Hash {
    let who = entry.who();
    let AuditEntry {
        happened_at,
        user_id: _,
        api_token_id: _,
        username,
        address,
        request_id,
        action,
        object_kind,
        object_id,
        object_name,
        before: object_before,
        after: object_after,
        result,
        times,
    } = entry;
    let mut bytes = Vec::with_capacity(512);
    bytes.extend_from_slice(b"chancery audit entry 1\0");
    bytes.extend_from_slice(&before.0);
    for number in [chain_no, entry_no, to_millis(*happened_at), i64::from(*times)] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    for field in [
        who.as_deref(),
        username.as_deref(),
        address.as_deref(),
        request_id.as_deref(),
        Some(&**action),
        Some(&**object_kind),
        object_id.as_deref(),
        object_name.as_deref(),
        object_before.as_deref(),
        object_after.as_deref(),
        Some(&**result),
    ] {
        bytes.push(u8::from(field.is_some()));
        let field = field.unwrap_or_default().as_bytes();
        bytes.extend_from_slice(&u64::try_from(field.len()).unwrap_or(u64::MAX).to_be_bytes());
        bytes.extend_from_slice(field);
    }
    let mut hash = Context::new(&SHA256);
    hash.update(&bytes);
    finish(hash)
}

fn finish(hash: Context) -> Hash {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(hash.finish().as_ref());
    Fixed(bytes)
}

/// So many processes may start at the same moment.
const ATTEMPTS: usize = 16;
