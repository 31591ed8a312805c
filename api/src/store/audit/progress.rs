//! How far someone has read the audit, so that a later reading brings what came since and misses
//! nothing: not by the time of an entry, which may be committed after a later one, but by chain.
//! Within a chain each entry is visible once every later one is.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use sqlx::AssertSqlSafe;

use super::read::conditions;
use super::row::COLUMNS;
use super::{AuditSearch, StoredAuditEntry, TABLE};
use crate::store::{Store, StoreError};

const CHAIN: &str = "audit_chain";

statements! {
    /// The chains that grew last first.
    HEADS = "
        SELECT audit_chain.chain_no, audit_chain.last_entry_no
          FROM audit_chain
          LEFT JOIN audit ON audit.chain_no = audit_chain.chain_no
                         AND audit.entry_no = audit_chain.last_entry_no
         ORDER BY COALESCE(audit.happened_at, 0) DESC, audit_chain.chain_no DESC";
}

/// The ends of all chains at one moment. What someone keeps of it is its text: the ends of the
/// chains that grew last, and of all others how many entries they have. As chains only grow, an equal
/// number says that none of those has grown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditProgress {
    /// No chain has a higher number.
    newest: i64,
    /// Entries of the chains that are not listed.
    others: i64,
    /// Number and last entry of each.
    listed: Vec<(i64, i64)>,
}

/// The ends of all chains, which grew last first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditHeads {
    heads: Vec<(i64, i64)>,
    /// The same by number.
    ends: HashMap<i64, i64>,
}

/// A part of a chain: the entries behind `after`, up to `last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Which chain.
    pub chain_no: i64,
    /// The last entry that is known.
    pub after: i64,
    /// The last one that is wanted.
    pub last: i64,
}

/// The text is not one that a link has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not what the link of an earlier download has")]
pub struct NoAuditProgress;

impl AuditHeads {
    fn new(heads: Vec<(i64, i64)>) -> Self {
        Self { ends: heads.iter().copied().collect(), heads }
    }

    /// Whether the entry was there then.
    pub fn holds(&self, entry: &StoredAuditEntry) -> bool {
        self.ends.get(&entry.chain_no).is_some_and(|last| entry.entry_no <= *last)
    }

    /// What a later reading is to begin with.
    pub fn progress(&self) -> AuditProgress {
        let (listed, others) = self.heads.split_at(self.heads.len().min(MOST_LISTED));
        AuditProgress {
            newest: self.heads.iter().map(|(chain_no, _)| *chain_no).max().unwrap_or_default(),
            others: others.iter().map(|(_, last)| last).sum(),
            listed: listed.to_vec(),
        }
    }

    /// What has come since, oldest chain first. Chains that the progress does not list come whole
    /// where one of them has grown: better twice than never.
    pub fn since(&self, progress: &AuditProgress) -> Vec<Piece> {
        let listed = |chain_no: i64| {
            let found = progress.listed.iter().find(|(listed, _)| *listed == chain_no);
            found.map(|(_, last)| *last)
        };
        let is_other = |chain_no: i64| chain_no <= progress.newest && listed(chain_no).is_none();
        let others = self.heads.iter().filter(|(chain_no, _)| is_other(*chain_no));
        let is_same = others.map(|(_, last)| last).sum::<i64>() == progress.others;
        let piece = |&(chain_no, last): &(i64, i64)| {
            let after = match listed(chain_no) {
                // Fewer than were read: the database is an older copy of itself.
                Some(after) if after > last => 0,
                Some(after) => after,
                None if is_other(chain_no) && is_same => last,
                None => 0,
            };
            (after < last).then_some(Piece { chain_no, after, last })
        };
        let mut pieces: Vec<_> = self.heads.iter().filter_map(piece).collect();
        pieces.sort_by_key(|piece| piece.chain_no);
        pieces
    }
}

impl fmt::Display for AuditProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.newest, self.others)?;
        self.listed.iter().try_for_each(|(chain_no, last)| write!(f, ".{chain_no}.{last}"))
    }
}

impl FromStr for AuditProgress {
    type Err = NoAuditProgress;

    fn from_str(text: &str) -> Result<Self, NoAuditProgress> {
        let number = |part: &str| part.parse::<i64>().ok().filter(|number| *number >= 0);
        let numbers: Option<Vec<i64>> = text.split('.').map(number).collect();
        let numbers = numbers.ok_or(NoAuditProgress)?;
        let [newest, others, listed @ ..] = &numbers[..] else { return Err(NoAuditProgress) };
        let (listed, []) = listed.as_chunks::<2>() else { return Err(NoAuditProgress) };
        if listed.len() > MOST_LISTED {
            return Err(NoAuditProgress);
        }
        let listed = listed.iter().map(|[chain_no, last]| (*chain_no, *last)).collect();
        Ok(Self { newest: *newest, others: *others, listed })
    }
}

impl Store {
    /// The ends of all chains now.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn audit_heads(&self) -> Result<AuditHeads, StoreError> {
        let heads = sqlx::query_as(HEADS).fetch_all(self.pool()).await;
        heads.map(AuditHeads::new).map_err(StoreError::of(CHAIN))
    }

    /// At most `limit` of the wanted entries of `piece`, in the order of their chain.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn audit_piece(
        &self,
        search: &AuditSearch,
        piece: Piece,
        limit: u32,
    ) -> Result<Vec<StoredAuditEntry>, StoreError> {
        let _place = self.search_place().await?;
        let query = search.bind(sqlx::query_as(AssertSqlSafe(sql(search))));
        let query = query.bind(piece.chain_no).bind(piece.after).bind(piece.last);
        let mut reading = self.begin_reading().await?;
        let rows = query.bind(i64::from(limit)).fetch_all(&mut *reading.transaction).await;
        let rows = rows.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(StoredAuditEntry::try_from).collect()
    }
}

fn sql(search: &AuditSearch) -> String {
    let mut parameter = 0;
    let mut next = || {
        parameter += 1;
        format!("${parameter}")
    };
    let mut wanted = conditions(search, &mut next);
    for bound in ["chain_no =", "entry_no >", "entry_no <="] {
        wanted.push(format!("{bound} {}", next()));
    }
    let wanted = wanted.join(" AND ");
    format!("SELECT {COLUMNS} FROM audit WHERE {wanted} ORDER BY entry_no LIMIT {}", next())
}

/// So many chains stand in a link, which must fit where headers and addresses do.
const MOST_LISTED: usize = 100;

#[cfg(test)]
mod tests;
