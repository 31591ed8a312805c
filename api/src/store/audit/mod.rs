//! The audit: entries that are added and never changed, chained by their hashes.

mod chain;
mod progress;
mod read;
mod row;
mod verify;

use std::borrow::Cow;

use chancery_shared::bytes::Hash;
use chancery_shared::id::{RowId, UserId};
use time::OffsetDateTime;

pub(super) use chain::{AuditChain, among_others, bind_head};
pub use progress::{AuditHeads, AuditProgress, NoAuditProgress, Piece};
pub use read::{AuditPlace, AuditSearch, Order};
pub(super) use row::ChainedEntry;
pub use verify::{ChainFault, ChainReport, Flaw};

#[cfg(test)]
pub(super) use {
    chain::STATEMENTS as CHAIN_STATEMENTS, progress::STATEMENTS as PROGRESS_STATEMENTS,
    read::sql as search_sql, row::statements as row_statements,
    verify::STATEMENTS as VERIFY_STATEMENTS,
};

/// What was done, or refused, and by whom. No part of it ever holds a secret: who makes one names
/// what goes into it, field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When.
    pub happened_at: OffsetDateTime,
    /// Who; `None` where nobody was logged in, or the service did it itself.
    pub user_id: Option<UserId>,
    /// That user's name, or [`SYSTEM`].
    pub username: Option<String>,
    /// The API token that acted for them.
    pub api_token_id: Option<RowId>,
    /// From where.
    pub address: Option<String>,
    /// The request that it belongs to.
    pub request_id: Option<String>,
    /// What, in a word or two: `create`, `change`, `issue`.
    pub action: Cow<'static, str>,
    /// The kind of thing, as in the path: `teams`, `certs`.
    pub object_kind: Cow<'static, str>,
    /// Which.
    pub object_id: Option<String>,
    /// What people call it.
    pub object_name: Option<String>,
    /// JSON of what it was.
    pub before: Option<String>,
    /// JSON of what it is now.
    pub after: Option<String>,
    /// [`OK`], or the code of the refusal.
    pub result: Cow<'static, str>,
    /// How often; more than once only where refusals are told together.
    pub times: u32,
}

impl AuditEntry {
    /// Who, as it is stored and hashed: the user's id, behind a slash the API token's.
    fn who(&self) -> Option<String> {
        let user = self.user_id?;
        Some(match self.api_token_id {
            Some(token) => format!("{user}/{token}"),
            None => user.to_string(),
        })
    }
}

/// An entry as it is stored, with its place in its chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAuditEntry {
    /// Which chain.
    pub chain_no: i64,
    /// Which entry of the chain, from 1.
    pub entry_no: i64,
    /// What it says.
    pub entry: AuditEntry,
    /// Over all of it and the entry before.
    pub hash: Hash,
}

/// Whoever does what nobody asked for.
pub const SYSTEM: &str = "system";

/// The result of what was done.
pub const OK: &str = "ok";

const TABLE: &str = "audit";
