//! Whether the chains are as they were written.

use chancery_shared::bytes::Hash;

use super::chain::{first_hash, next_hash};
use super::row::{self, Read};
use super::{StoredAuditEntry, TABLE};
use crate::store::{Store, StoreError};

const CHAIN: &str = "audit_chain";

statements! {
    /// A chain may be known by its entries alone, where its own row is gone.
    NEXT_NO = "
        SELECT MIN(chain_no) FROM (
            SELECT MIN(chain_no) AS chain_no FROM audit_chain WHERE chain_no > $1
             UNION ALL
            SELECT MIN(chain_no) AS chain_no FROM audit WHERE chain_no > $1) AS numbers";
    ONE_CHAIN = "
        SELECT opened_at, previous_entry_no, previous_hash, last_entry_no, last_hash
          FROM audit_chain WHERE chain_no = $1";
    PAGE = "
        SELECT happened_at, chain_no, entry_no, user_id, username, address, request_id, action,
               object_kind, object_id, object_name, object_before, object_after, result, times, hash
          FROM audit
         WHERE chain_no = $1 AND entry_no > $2
         ORDER BY entry_no
         LIMIT 500";
}

/// What was found of one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainReport {
    /// Which.
    pub chain_no: i64,
    /// How many entries were read.
    pub entries: u64,
    /// The number of the first.
    pub first: Option<i64>,
    /// The number of the last.
    pub last: Option<i64>,
    /// The hash of the last; to be kept elsewhere by who would trust no database.
    pub last_hash: Option<Hash>,
    /// The first thing that is wrong.
    pub fault: Option<ChainFault>,
}

/// Something is not as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChainFault {
    /// At which entry.
    pub entry_no: i64,
    /// What.
    pub flaw: Flaw,
}

/// What can be wrong with a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is no such chain, and one after it.
    ChainMissing,
    /// The chain has entries, and its own row is gone.
    ChainRowMissing,
    /// The entry is missing.
    EntryMissing,
    /// The entry, the one before it, or the beginning of the chain is not what was written.
    EntryChanged,
    /// The entry can't be read.
    EntryUnreadable,
    /// This and what follows was added by someone else.
    EntryAdded,
}

#[derive(Debug, sqlx::FromRow)]
struct ChainRow {
    opened_at: i64,
    previous_entry_no: i64,
    previous_hash: Vec<u8>,
    last_entry_no: i64,
    last_hash: Vec<u8>,
}

/// An entry that someone saw.
#[derive(Clone, Copy, Debug)]
struct Witness {
    entry_no: i64,
    hash: Option<Hash>,
}

impl Store {
    /// Looks at the chain behind `after`, `i64::MIN` to begin with; missing ones count as one. `None`
    /// where there are no more.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn verify_audit_chain(&self, after: i64) -> Result<Option<ChainReport>, StoreError> {
        let next: Option<i64> = sqlx::query_scalar(NEXT_NO)
            .bind(after)
            .fetch_one(self.pool())
            .await
            .map_err(StoreError::of(CHAIN))?;
        let Some(next) = next else { return Ok(None) };
        if next <= after.max(0) + 1 {
            return self.verify_chain(next).await.map(Some);
        }
        // Numbers are given without a gap. One report is enough for all that are gone here.
        let fault = ChainFault { entry_no: 1, flaw: Flaw::ChainMissing };
        Ok(Some(ChainReport { chain_no: next - 1, ..ChainReport::of_nothing(fault) }))
    }

    async fn verify_chain(&self, chain_no: i64) -> Result<ChainReport, StoreError> {
        // What is known of its end, before its entries are read: those that come meanwhile are
        // behind it. The process whose chain it is remembers it, too.
        let own = self.audit_chain().known().await.filter(|head| head.chain_no == chain_no);
        let Some(row) = self.chain_row(chain_no).await? else {
            let fault = ChainFault { entry_no: 1, flaw: Flaw::ChainRowMissing };
            return Ok(ChainReport { chain_no, ..ChainReport::of_nothing(fault) });
        };
        let mut witnesses =
            vec![Witness { entry_no: row.last_entry_no, hash: row::hash(&row.last_hash) }];
        witnesses.extend(own.map(|own| Witness { entry_no: own.entry_no, hash: Some(own.hash) }));
        if let Some(later) = self.chain_row(chain_no + 1).await? {
            let hash = row::hash(&later.previous_hash);
            witnesses.push(Witness { entry_no: later.previous_entry_no, hash });
        }
        let mut walk = Walk::new(chain_no, &row);
        walk.see(&witnesses);
        let mut after = i64::MIN;
        while walk.report.fault.is_none() {
            let page = self.page(chain_no, after).await?;
            if page.is_empty() {
                break;
            }
            for read in page {
                after = read.entry_no();
                walk.step(read);
                walk.see(&witnesses);
            }
        }
        let furthest = witnesses.iter().map(|witness| witness.entry_no).max().unwrap_or(0);
        if walk.entry_no < furthest {
            walk.fault(walk.entry_no + 1, Flaw::EntryMissing);
        }
        // Entries and the end of their chain are committed together.
        if walk.entry_no > row.last_entry_no {
            let now = self.chain_row(chain_no).await?.map_or(0, |now| now.last_entry_no);
            if walk.entry_no > now {
                walk.fault(now + 1, Flaw::EntryAdded);
            }
        }
        Ok(walk.report)
    }

    async fn chain_row(&self, chain_no: i64) -> Result<Option<ChainRow>, StoreError> {
        let found = sqlx::query_as(ONE_CHAIN).bind(chain_no).fetch_optional(self.pool()).await;
        found.map_err(StoreError::of(CHAIN))
    }

    async fn page(&self, chain_no: i64, after: i64) -> Result<Vec<Read>, StoreError> {
        let page = sqlx::query_as(PAGE).bind(chain_no).bind(after).fetch_all(self.pool()).await;
        page.map_err(StoreError::of(TABLE))
    }
}

impl ChainReport {
    fn of_nothing(fault: ChainFault) -> Self {
        let fault = Some(fault);
        Self { chain_no: 0, entries: 0, first: None, last: None, last_hash: None, fault }
    }
}

/// How far a chain was followed.
struct Walk {
    chain_no: i64,
    entry_no: i64,
    hash: Hash,
    report: ChainReport,
}

impl Walk {
    fn new(chain_no: i64, row: &ChainRow) -> Self {
        let zeros = chancery_shared::bytes::Fixed([0; 32]);
        let previous = row::hash(&row.previous_hash).unwrap_or(zeros);
        let hash = first_hash(chain_no, row.opened_at, row.previous_entry_no, previous);
        let report = ChainReport {
            chain_no,
            entries: 0,
            first: None,
            last: None,
            last_hash: None,
            fault: None,
        };
        Self { chain_no, entry_no: 0, hash, report }
    }

    fn step(&mut self, read: Read) {
        let found = read.entry_no();
        let expected = self.entry_no + 1;
        if found < expected {
            self.fault(found, Flaw::EntryAdded);
        } else if found > expected {
            self.fault(expected, Flaw::EntryMissing);
        }
        match StoredAuditEntry::try_from(read) {
            Ok(stored) => {
                let hash = next_hash(self.hash, self.chain_no, found, &stored.entry);
                if hash != stored.hash {
                    self.fault(found, Flaw::EntryChanged);
                }
                self.hash = stored.hash;
            }
            Err(_) => self.fault(found, Flaw::EntryUnreadable),
        }
        self.entry_no = found;
        self.report.entries += 1;
        self.report.first.get_or_insert(found);
        self.report.last = Some(found);
        self.report.last_hash = Some(self.hash);
    }

    /// Compares the entry that was read with what was known of it elsewhere.
    fn see(&mut self, witnesses: &[Witness]) {
        let here = witnesses.iter().filter(|witness| witness.entry_no == self.entry_no);
        if here.into_iter().any(|witness| witness.hash != Some(self.hash)) {
            self.fault(self.entry_no.max(1), Flaw::EntryChanged);
        }
    }

    fn fault(&mut self, entry_no: i64, flaw: Flaw) {
        self.report.fault.get_or_insert(ChainFault { entry_no, flaw });
    }
}
