//! Searching among certificates: pages in the order of recording, quick for any number of rows.
//!
//! Each filter that an index knows is a *source* of candidates, in the order of recording. A batch
//! comes from the source whose next candidates reach furthest: it is the rarest just here, whatever
//! it is elsewhere. The rows of a batch are held against all filters. So the work for a page is
//! bounded by the rarest filter, and a search that finds little can stop anywhere and go on later.

#[macro_use]
mod statements;

mod index;
pub(in crate::store) mod issuers;
mod postgres_numbers;
mod postgres_text;
mod source;
#[macro_use]
mod sqlite_text;
mod sqlite_numbers;
mod walk;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use chancery_shared::id::{CertIssuerId, CertificateId, TeamId, UserId};
use sqlx::{Any, Executor as _, Transaction};

use super::{StoredCertificate, TABLE};
use crate::certificate::text_filter::TextFilter;
use crate::store::engine::EngineName;
use crate::store::{Store, StoreError};

#[cfg(test)]
pub(in crate::store) use {
    index::STATEMENTS as INDEX_STATEMENTS, issuers::STATEMENTS as ISSUER_STATEMENTS,
    postgres_numbers::STATEMENTS as POSTGRES_NUMBER_STATEMENTS,
    postgres_text::STATEMENTS as POSTGRES_STATEMENTS,
    sqlite_numbers::STATEMENTS as SQLITE_NUMBER_STATEMENTS,
    sqlite_text::STATEMENTS as SQLITE_TEXT_STATEMENTS, statements::STATEMENTS as SOURCE_STATEMENTS,
    walk::STATEMENTS as WALK_STATEMENTS,
};

statements! {
    NUMBER_OF_ID = "SELECT record_no FROM certificate WHERE certificate_id = $1";
}

/// Reads id and certificate of the records with one thumbprint, `$1`.
pub(super) fn records_by_thumbprint(engine: EngineName) -> &'static str {
    match engine {
        EngineName::Sqlite => sqlite_numbers::BY_THUMBPRINT,
        EngineName::Postgres => postgres_numbers::BY_THUMBPRINT,
    }
}

/// Reads the id of the record with one issuer, `$1`, and serial number, `$2`.
pub(super) fn id_by_serial(engine: EngineName) -> &'static str {
    match engine {
        EngineName::Sqlite => sqlite_numbers::ID_BY_SERIAL,
        EngineName::Postgres => postgres_numbers::ID_BY_SERIAL,
    }
}

/// Which certificates are wanted: those that all of it holds for. The default wants all.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Of the subject.
    pub subject_dn: Option<TextFilter>,
    /// Of the issuer.
    pub issuer_dn: Option<TextFilter>,
    /// Of the common name.
    pub common_name: Option<TextFilter>,
    /// Of the subject alternative names.
    pub subject_alt_names: Option<TextFilter>,
    /// Of the extra information.
    pub extra_details: Option<TextFilter>,
    /// As stored.
    pub serial_number: Option<String>,
    /// As stored.
    pub thumbprint: Option<String>,
    /// One of these Certificate Issuers.
    pub cert_issuer_ids: Option<Vec<CertIssuerId>>,
    /// The team.
    pub team_id: Option<TeamId>,
    /// The owner.
    pub owner_user_id: Option<UserId>,
    /// First and last moment, in Unix milliseconds, at which its life begins.
    pub not_before: Span,
    /// The same of its end.
    pub not_after: Span,
    /// Which states.
    pub states: States,
    /// Who looks, where that is not someone who sees all.
    pub viewer: Option<Viewer>,
}

/// A user who sees the certificates of CAs, those that are the user's own, and those of some teams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Viewer {
    /// The user.
    pub user_id: UserId,
    /// The teams.
    pub team_ids: Vec<TeamId>,
}

/// Unix milliseconds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub from: i64,
    /// The last.
    pub to: i64,
}

impl Default for Span {
    fn default() -> Self {
        Self { from: i64::MIN, to: i64::MAX }
    }
}

impl Span {
    /// What is in both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { from: self.from.max(other.from), to: self.to.min(other.to) }
    }
}

/// Whether it must be revoked, and whether renewed: a bit for each of `2 * revoked + renewed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct States(i64);

impl States {
    /// Neither.
    pub const UNTOUCHED: Self = Self(0b0001);
    /// Renewed and not revoked.
    pub const RENEWED: Self = Self(0b0010);
    /// Not revoked.
    pub const NOT_REVOKED: Self = Self(0b0011);
    /// Revoked.
    pub const REVOKED: Self = Self(0b1100);
    /// Any.
    pub const ALL: Self = Self(0b1111);
}

impl Default for States {
    fn default() -> Self {
        Self::ALL
    }
}

/// Where a record stands in the order of recording; what a page ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordNo(pub(super) i64);

impl fmt::Display for RecordNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for RecordNo {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<i64>().map(Self)
    }
}

/// A page.
#[derive(Debug, Default)]
pub struct Found {
    /// In the order of recording.
    pub certificates: Vec<StoredCertificate>,
    /// Where to go on; `None` where there is no more. A page that is not full and has this ended
    /// for lack of time.
    pub next: Option<RecordNo>,
}

impl Store {
    /// At most `limit` of the wanted certificates, after the record `after`. Looks no longer than
    /// `patience`, and at one batch of candidates at least.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unavailable`] also where too many others search for too long.
    pub async fn search_certificates(
        &self,
        search: &Search,
        after: Option<RecordNo>,
        limit: u32,
        patience: Duration,
    ) -> Result<Found, StoreError> {
        if search.is_impossible() {
            return Ok(Found::default());
        }
        let _place = self.search_place().await?;
        let mut reading = self.begin_reading().await?;
        let after = after.map_or(i64::MIN, |after| after.0);
        walk::run(&mut reading, search, after, limit, patience).await
    }

    /// The number of the record with this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn record_no(&self, id: CertificateId) -> Result<Option<RecordNo>, StoreError> {
        let found =
            sqlx::query_scalar(NUMBER_OF_ID).bind(id.to_string()).fetch_optional(self.pool()).await;
        Ok(found.map_err(StoreError::of(TABLE))?.map(RecordNo))
    }

    /// All that a search reads is of one moment on SQLite, where the index of texts needs it.
    pub(in crate::store) async fn begin_reading(&self) -> Result<Reading, StoreError> {
        let mut transaction = self.pool().begin().await.map_err(StoreError::of(TABLE))?;
        let engine = self.engine();
        if engine == EngineName::Postgres {
            let set = transaction.execute(POSTGRES_PLANS).await;
            set.map_err(StoreError::of(TABLE))?;
        }
        Ok(Reading { transaction, engine })
    }
}

impl Search {
    /// Whether every certificate is wanted.
    pub fn is_empty(&self) -> bool {
        let texts = [
            &self.subject_dn,
            &self.issuer_dn,
            &self.common_name,
            &self.subject_alt_names,
            &self.extra_details,
        ];
        texts.iter().all(|text| text.is_none())
            && self.serial_number.is_none()
            && self.thumbprint.is_none()
            && self.cert_issuer_ids.is_none()
            && self.team_id.is_none()
            && self.owner_user_id.is_none()
            && self.not_before == Span::default()
            && self.not_after == Span::default()
            && self.states == States::ALL
            && self.viewer.is_none()
    }

    fn is_impossible(&self) -> bool {
        self.not_before.from > self.not_before.to
            || self.not_after.from > self.not_after.to
            || self.cert_issuer_ids.as_ref().is_some_and(Vec::is_empty)
    }
}

/// One search's transaction; it only reads.
pub(in crate::store) struct Reading {
    pub(in crate::store) transaction: Transaction<'static, Any>,
    pub(in crate::store) engine: EngineName,
}

impl Reading {
    async fn say(&mut self, sql: &'static str) -> Result<(), StoreError> {
        let said = self.transaction.execute(sql).await;
        said.map(drop).map_err(StoreError::of(TABLE))
    }
}

/// The statements of a search go by indexes and rows, whatever the planner knows of the tables.
const POSTGRES_PLANS: &str = "
    SET LOCAL enable_seqscan = off;
    SET LOCAL enable_hashjoin = off;
    SET LOCAL enable_mergejoin = off;
    SET LOCAL jit = off;
    SET LOCAL statement_timeout = 10000;";
