//! Rows of the audit.

use std::sync::LazyLock;

use chancery_shared::bytes::{Fixed, Hash};
use sqlx::FromRow;

use super::{AuditEntry, StoredAuditEntry, TABLE};
use crate::store::StoreError;
use crate::store::many_rows::{Bound, Inserts, Row, inserts};
use crate::store::row::At;
use crate::timestamp::{from_millis, to_millis};

/// In the order of the table.
pub(super) const COLUMNS: &str = "
    happened_at, chain_no, entry_no, user_id, username, address, request_id, action, object_kind,
    object_id, object_name, object_before, object_after, result, times, hash";

/// An entry with its place in its chain.
#[derive(Debug)]
pub(in crate::store) struct ChainedEntry<'a> {
    pub(super) chain_no: i64,
    pub(super) entry_no: i64,
    pub(super) entry: &'a AuditEntry,
    pub(super) hash: Hash,
}

impl Row for ChainedEntry<'_> {
    const TABLE: &'static str = TABLE;

    fn inserts() -> &'static Inserts {
        static INSERTS: LazyLock<Inserts> = LazyLock::new(|| inserts(TABLE, COLUMNS));
        &INSERTS
    }

    fn bind<'q>(&'q self, query: Bound<'q>) -> Bound<'q> {
        let entry = self.entry;
        query
            .bind(to_millis(entry.happened_at))
            .bind(self.chain_no)
            .bind(self.entry_no)
            .bind(entry.who())
            .bind(entry.username.as_deref())
            .bind(entry.address.as_deref())
            .bind(entry.request_id.as_deref())
            .bind(&*entry.action)
            .bind(&*entry.object_kind)
            .bind(entry.object_id.as_deref())
            .bind(entry.object_name.as_deref())
            .bind(entry.before.as_deref())
            .bind(entry.after.as_deref())
            .bind(&*entry.result)
            .bind(i64::from(entry.times))
            .bind(&self.hash.0[..])
    }
}

/// For the test that prepares them on both engines.
#[cfg(test)]
pub(in crate::store) fn statements(
    engine: crate::store::engine::EngineName,
) -> Vec<(&'static str, &'static str)> {
    ChainedEntry::inserts().of(engine).iter().map(|(_, sql)| (TABLE, *sql)).collect()
}

/// An entry as it is read.
#[derive(Debug, FromRow)]
pub(super) struct Read {
    happened_at: i64,
    chain_no: i64,
    entry_no: i64,
    user_id: Option<String>,
    username: Option<String>,
    address: Option<String>,
    request_id: Option<String>,
    action: String,
    object_kind: String,
    object_id: Option<String>,
    object_name: Option<String>,
    object_before: Option<String>,
    object_after: Option<String>,
    result: String,
    times: i64,
    hash: Vec<u8>,
}

impl Read {
    pub(super) fn entry_no(&self) -> i64 {
        self.entry_no
    }
}

impl TryFrom<Read> for StoredAuditEntry {
    type Error = StoreError;

    fn try_from(read: Read) -> Result<Self, StoreError> {
        let row = format!("{}/{}", read.chain_no, read.entry_no);
        let at = At { table: TABLE, row: &row };
        let who = read.user_id.as_deref().map(|who| match who.split_once('/') {
            Some((user, token)) => (user, Some(token)),
            None => (who, None),
        });
        Ok(Self {
            chain_no: read.chain_no,
            entry_no: read.entry_no,
            hash: hash(&read.hash).ok_or_else(|| at.unreadable("hash"))?,
            entry: AuditEntry {
                happened_at: from_millis(read.happened_at),
                user_id: at.parse_option("user_id", who.map(|(user, _)| user))?,
                api_token_id: at.parse_option("user_id", who.and_then(|(_, token)| token))?,
                username: read.username,
                address: read.address,
                request_id: read.request_id,
                action: read.action.into(),
                object_kind: read.object_kind.into(),
                object_id: read.object_id,
                object_name: read.object_name,
                before: read.object_before,
                after: read.object_after,
                result: read.result.into(),
                times: u32::try_from(read.times).map_err(|_| at.unreadable("times"))?,
            },
        })
    }
}

/// What was stored as a hash.
pub(super) fn hash(bytes: &[u8]) -> Option<Hash> {
    bytes.try_into().ok().map(Fixed)
}
