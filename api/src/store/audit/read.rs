//! Finding entries of the audit.

use std::str::FromStr;

use sqlx::any::AnyArguments;
use sqlx::query::QueryAs;
use sqlx::{Any, AssertSqlSafe};

use super::row::{COLUMNS, Read};
use super::{StoredAuditEntry, TABLE};
use crate::store::{Store, StoreError};

/// Which entries are wanted: those that everything given holds for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditSearch {
    /// From this moment, in Unix milliseconds.
    pub from: Option<i64>,
    /// Up to this one.
    pub to: Option<i64>,
    /// The name of who did it.
    pub username: Option<String>,
    /// The kind of thing.
    pub object_kind: Option<String>,
    /// Which thing.
    pub object_id: Option<String>,
    /// What was done.
    pub action: Option<String>,
    /// How it ended.
    pub result: Option<String>,
    /// The request.
    pub request_id: Option<String>,
}

/// The place of an entry among all, in the order of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuditPlace {
    happened_at: i64,
    chain_no: i64,
    entry_no: i64,
}

impl StoredAuditEntry {
    /// Where the next page begins.
    pub fn place(&self) -> AuditPlace {
        let happened_at = crate::timestamp::to_millis(self.entry.happened_at);
        AuditPlace { happened_at, chain_no: self.chain_no, entry_no: self.entry_no }
    }
}

impl std::fmt::Display for AuditPlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.happened_at, self.chain_no, self.entry_no)
    }
}

impl FromStr for AuditPlace {
    type Err = NoAuditPlace;

    fn from_str(text: &str) -> Result<Self, NoAuditPlace> {
        let mut numbers = text.splitn(3, '.').map(|part| part.parse().map_err(|_| NoAuditPlace));
        let mut next = || numbers.next().unwrap_or(Err(NoAuditPlace));
        Ok(Self { happened_at: next()?, chain_no: next()?, entry_no: next()? })
    }
}

/// The text is not one that a link has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not what the link to a next page has")]
pub struct NoAuditPlace;

/// Which entries come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The latest, as people look.
    NewestFirst,
    /// The first, as they are copied elsewhere.
    OldestFirst,
}

impl Store {
    /// At most `limit` of the wanted entries behind `after`.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn audit_entries(
        &self,
        search: &AuditSearch,
        order: Order,
        after: Option<AuditPlace>,
        limit: u32,
    ) -> Result<Vec<StoredAuditEntry>, StoreError> {
        let _place = self.search_place().await?;
        let sql = sql(search, order, after.is_some());
        let mut query = search.bind(sqlx::query_as(AssertSqlSafe(sql)));
        if let Some(AuditPlace { happened_at, chain_no, entry_no }) = after {
            query = query.bind(happened_at).bind(chain_no).bind(entry_no);
        }
        let mut reading = self.begin_reading().await?;
        let rows = query.bind(i64::from(limit)).fetch_all(&mut *reading.transaction).await;
        let rows = rows.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(StoredAuditEntry::try_from).collect()
    }
}

pub(super) type Bound<'q> = QueryAs<'q, Any, Read, AnyArguments>;

impl AuditSearch {
    /// Binds the values of [`conditions`].
    pub(super) fn bind<'q>(&self, mut query: Bound<'q>) -> Bound<'q> {
        for moment in [self.from, self.to].into_iter().flatten() {
            query = query.bind(moment);
        }
        for (_, text) in self.texts() {
            query = query.bind(text.to_owned());
        }
        query
    }

    /// Columns that must have a value.
    fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let Self { username, object_kind, object_id, action, result, request_id, .. } = self;
        let texts = [
            ("username", username),
            ("object_kind", object_kind),
            ("object_id", object_id),
            ("action", action),
            ("result", result),
            ("request_id", request_id),
        ];
        texts.into_iter().filter_map(|(column, text)| text.as_deref().map(|text| (column, text)))
    }
}

/// What most entries have.
const COMMON: [(&str, &str); 2] = [("result", super::OK), ("object_kind", "certs")];

/// Made of names of ours alone; every value is a parameter.
pub(in crate::store) fn sql(search: &AuditSearch, order: Order, is_after: bool) -> String {
    let (beyond, direction) = match order {
        Order::NewestFirst => ("<", "DESC"),
        Order::OldestFirst => (">", "ASC"),
    };
    let mut parameter = 0;
    let mut next = || {
        parameter += 1;
        format!("${parameter}")
    };
    let mut wanted = conditions(search, &mut next);
    if is_after {
        let place = [next(), next(), next()].join(", ");
        wanted.push(format!("(happened_at, chain_no, entry_no) {beyond} ({place})"));
    }
    let wanted = if wanted.is_empty() { "1 = 1".to_owned() } else { wanted.join(" AND ") };
    format!(
        "SELECT {COLUMNS} FROM audit WHERE {wanted}
          ORDER BY happened_at {direction}, chain_no {direction}, entry_no {direction}
          LIMIT {}",
        next()
    )
}

/// What an entry must be, with the parameters that `next` names.
pub(super) fn conditions(search: &AuditSearch, mut next: impl FnMut() -> String) -> Vec<String> {
    let mut wanted = Vec::new();
    if search.from.is_some() {
        wanted.push(format!("happened_at >= {}", next()));
    }
    if search.to.is_some() {
        wanted.push(format!("happened_at <= {}", next()));
    }
    for (column, text) in search.texts() {
        wanted.push(format!("{column} = {}", next()));
        // The words of an index that leaves out what most entries have.
        if let Some(common) = COMMON.iter().find(|common| common.0 == column && common.1 != text) {
            wanted.push(format!("{column} <> '{}'", common.1));
        }
    }
    wanted
}
