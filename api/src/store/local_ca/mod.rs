//! Local CAs: the certification authorities whose keys the signer holds.

mod claim;
mod write;

use chancery_shared::id::{ApprovalId, CertificateId, KeyId, KeyStoreId, LocalCaId, SignerId};
use time::OffsetDateTime;

use super::retention::Transition;
use super::row::At;
use super::{Store, StoreError};
use crate::timestamp::from_millis;

pub use claim::LocalCaClaim;
#[cfg(test)]
pub(super) use {claim::STATEMENTS as CLAIM_STATEMENTS, write::STATEMENTS as WRITE_STATEMENTS};

const TABLE: &str = "local_ca";

statements! {
    LIVE = select!(local_ca "WHERE deleted_at IS NULL ORDER BY name, local_ca_id");
    EVERY = select!(local_ca "ORDER BY local_ca_id");
    BY_ID = select!(local_ca "WHERE local_ca_id = $1");
    LIVE_BY_NAME = select!(local_ca "WHERE name = $1 AND deleted_at IS NULL");
    UNFINISHED = select!(
        local_ca
        "WHERE status IN ('awaiting-certificate', 'awaiting-approval', 'removing')
           AND deleted_at IS NULL
         ORDER BY created_at, local_ca_id"
    );
}

/// Where a Local CA stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalCaStatus {
    /// It can sign.
    Live,
    /// An administrator took it out of use for a while.
    Offline,
    /// It has no certificate yet.
    AwaitingCertificate,
    /// Its certificate waits for the signer's operator.
    AwaitingApproval,
    /// It will never be: what was begun for it is taken back.
    Removing,
    /// Its certificate was revoked.
    Revoked,
}

impl LocalCaStatus {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Live, "live"),
        (Self::Offline, "offline"),
        (Self::AwaitingCertificate, "awaiting-certificate"),
        (Self::AwaitingApproval, "awaiting-approval"),
        (Self::Removing, "removing"),
        (Self::Revoked, "revoked"),
    ];

    /// The stored text.
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find_map(|(s, text)| (s == self).then_some(text)).unwrap_or_default()
    }
}

/// The text names no status.
#[derive(Debug)]
pub struct NotAStatus;

impl std::str::FromStr for LocalCaStatus {
    type Err = NotAStatus;

    fn from_str(text: &str) -> Result<Self, NotAStatus> {
        Self::ALL.into_iter().find_map(|(s, t)| (t == text).then_some(s)).ok_or(NotAStatus)
    }
}

/// A Local CA, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCa {
    /// Its id.
    pub id: LocalCaId,
    /// Its name, unique among the live ones.
    pub name: String,
    /// Where its key is.
    pub key_store_id: KeyStoreId,
    /// The CA that certifies it; `None` for a root.
    pub parent_local_ca_id: Option<LocalCaId>,
    /// Its key, once it is made.
    pub key_id: Option<KeyId>,
    /// The signer that made it.
    pub signer_id: Option<SignerId>,
    /// Its subject (RFC 4514).
    pub subject_dn: String,
    /// The rest of what was asked for, as JSON.
    pub definition: String,
    /// Where it stands.
    pub status: LocalCaStatus,
    /// By which the signer's operator decides.
    pub approval_id: Option<ApprovalId>,
    /// The record of its certificate.
    pub certificate_id: Option<CertificateId>,
    /// When it was made.
    pub created_at: OffsetDateTime,
    /// Who made it.
    pub created_by: String,
    /// When it was deleted, if it was.
    pub deleted_at: Option<OffsetDateTime>,
    /// What is under way with it.
    pub transition: Option<Transition>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    local_ca_id: String,
    name: String,
    key_store_id: String,
    parent_local_ca_id: Option<String>,
    key_id: Option<String>,
    signer_id: Option<String>,
    subject_dn: String,
    definition: String,
    status: String,
    approval_id: Option<String>,
    certificate_id: Option<String>,
    created_at: i64,
    created_by: String,
    deleted_at: Option<i64>,
    transition: Option<String>,
}

impl TryFrom<Row> for LocalCa {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.local_ca_id };
        let parent = row.parent_local_ca_id.as_deref();
        Ok(Self {
            id: at.parse("local_ca_id", &row.local_ca_id)?,
            key_store_id: at.parse("key_store_id", &row.key_store_id)?,
            parent_local_ca_id: at.parse_option("parent_local_ca_id", parent)?,
            key_id: at.parse_option("key_id", row.key_id.as_deref())?,
            signer_id: at.parse_option("signer_id", row.signer_id.as_deref())?,
            status: at.parse("status", &row.status)?,
            approval_id: at.parse_option("approval_id", row.approval_id.as_deref())?,
            certificate_id: at.parse_option("certificate_id", row.certificate_id.as_deref())?,
            transition: at.parse_option("transition", row.transition.as_deref())?,
            name: row.name,
            subject_dn: row.subject_dn,
            definition: row.definition,
            created_at: from_millis(row.created_at),
            created_by: row.created_by,
            deleted_at: row.deleted_at.map(from_millis),
        })
    }
}

impl Store {
    /// The live Local CAs, by name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn local_cas(&self) -> Result<Vec<LocalCa>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(LIVE).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(LocalCa::try_from).collect()
    }

    /// Every Local CA, live or deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn every_local_ca(&self) -> Result<Vec<LocalCa>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(EVERY).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(LocalCa::try_from).collect()
    }

    /// The Local CAs whose making is not finished, oldest first.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn unfinished_local_cas(&self) -> Result<Vec<LocalCa>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(UNFINISHED)
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(LocalCa::try_from).collect()
    }

    /// The Local CA of this id, live or deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn local_ca(&self, id: LocalCaId) -> Result<Option<LocalCa>, StoreError> {
        self.one_local_ca(BY_ID, &id.to_string()).await
    }

    /// The live Local CA of this name.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn live_local_ca_named(&self, name: &str) -> Result<Option<LocalCa>, StoreError> {
        self.one_local_ca(LIVE_BY_NAME, name).await
    }

    async fn one_local_ca(
        &self,
        statement: &'static str,
        key: &str,
    ) -> Result<Option<LocalCa>, StoreError> {
        let row: Option<Row> = sqlx::query_as(statement)
            .bind(key)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        row.map(LocalCa::try_from).transpose()
    }
}
