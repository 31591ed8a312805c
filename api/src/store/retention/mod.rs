//! What is deleted, kept for a while, restored and removed: Key Stores, Local CAs and Certificate
//! Issuers, and what each stands on.

mod local_ca;
mod unexpired;

use chancery_shared::id::{ApprovalId, CertIssuerId, KeyStoreId, LocalCaId};
use time::OffsetDateTime;

use super::local_ca::LocalCaStatus;
use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

pub use local_ca::{Pending, TransitionClaim};
#[cfg(test)]
pub(super) use {
    local_ca::STATEMENTS as LOCAL_CA_STATEMENTS, unexpired::STATEMENTS as UNEXPIRED_STATEMENTS,
};

const TABLE: &str = "retained items";

statements! {
    /// Waits for whoever changes what exists, and lets the next one wait.
    HOLD = "
        INSERT INTO installation (name, value) VALUES ('lifecycle', '')
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    ITEMS = "
        SELECT 'keystores' AS kind, key_store_id AS item_id, name, deleted_at,
               COALESCE(deleted_by, '') AS deleted_by, '' AS status, '' AS transition,
               '' AS key_store_id, '' AS local_ca_id, '' AS approval_id
          FROM key_store
        UNION ALL
        SELECT 'localca', local_ca_id, name, deleted_at, COALESCE(deleted_by, ''), status,
               COALESCE(transition, ''), key_store_id, COALESCE(parent_local_ca_id, ''),
               COALESCE(approval_id, '')
          FROM local_ca
        UNION ALL
        SELECT 'ca', cert_issuer_id, name, deleted_at, COALESCE(deleted_by, ''), '', '', '',
               local_ca_id, ''
          FROM cert_issuer";
    DELETE_KEY_STORE = "
        UPDATE key_store SET deleted_at = $2, deleted_by = $3 WHERE key_store_id = $1";
    RESTORE_KEY_STORE = "
        UPDATE key_store SET deleted_at = NULL, deleted_by = NULL WHERE key_store_id = $1";
    REMOVE_KEY_STORE = "DELETE FROM key_store WHERE key_store_id = $1";
    DELETE_CERT_ISSUER = "
        UPDATE cert_issuer SET deleted_at = $2, deleted_by = $3 WHERE cert_issuer_id = $1";
    RESTORE_CERT_ISSUER = "
        UPDATE cert_issuer SET deleted_at = NULL, deleted_by = NULL WHERE cert_issuer_id = $1";
    REMOVE_TEAMS = "DELETE FROM cert_issuer_team WHERE cert_issuer_id = $1";
    REMOVE_CERT_ISSUER = "DELETE FROM cert_issuer WHERE cert_issuer_id = $1";
}

/// Which item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemId {
    /// A Key Store.
    KeyStore(KeyStoreId),
    /// A Local CA.
    LocalCa(LocalCaId),
    /// A Certificate Issuer.
    CertIssuer(CertIssuerId),
}

/// What is under way with a Local CA: its key changes first, then the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// From live to deleted.
    Deleting,
    /// From deleted to live.
    Restoring,
    /// To be gone for good.
    Removing,
}

impl Transition {
    const ALL: [(Self, &'static str); 3] = [
        (Self::Deleting, "deleting"),
        (Self::Restoring, "restoring"),
        (Self::Removing, "removing"),
    ];

    /// As it is stored and shown.
    pub fn as_str(self) -> &'static str {
        Self::ALL.into_iter().find_map(|(t, text)| (t == self).then_some(text)).unwrap_or_default()
    }
}

/// The text names no transition.
#[derive(Debug)]
pub struct NotATransition;

impl std::str::FromStr for Transition {
    type Err = NotATransition;

    fn from_str(text: &str) -> Result<Self, NotATransition> {
        let found = Self::ALL.into_iter().find_map(|(t, name)| (name == text).then_some(t));
        found.ok_or(NotATransition)
    }
}

/// An item, live or deleted, as far as its life goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retained {
    /// Which.
    pub id: ItemId,
    /// Its name.
    pub name: String,
    /// When and by whom it was deleted, if it was.
    pub deleted: Option<(OffsetDateTime, String)>,
    /// Of a Local CA: where it stands.
    pub status: Option<LocalCaStatus>,
    /// What is under way with it.
    pub transition: Option<Transition>,
    /// By which the signer's operator decides on that, where it waits for them.
    pub awaits: Option<ApprovalId>,
    /// What it can't be without.
    pub stands_on: Vec<ItemId>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    kind: String,
    item_id: String,
    name: String,
    deleted_at: Option<i64>,
    deleted_by: String,
    status: String,
    transition: String,
    key_store_id: String,
    local_ca_id: String,
    approval_id: String,
}

impl TryFrom<Row> for Retained {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.item_id };
        let given = |text: &'_ str| (!text.is_empty()).then(|| text.to_owned());
        let key_store = at.parse_option("key_store_id", given(&row.key_store_id).as_deref())?;
        let local_ca = at.parse_option("local_ca_id", given(&row.local_ca_id).as_deref())?;
        Ok(Self {
            id: match row.kind.as_str() {
                "keystores" => ItemId::KeyStore(at.parse("key_store_id", &row.item_id)?),
                "localca" => ItemId::LocalCa(at.parse("local_ca_id", &row.item_id)?),
                _ => ItemId::CertIssuer(at.parse("cert_issuer_id", &row.item_id)?),
            },
            deleted: row.deleted_at.map(|at| (from_millis(at), row.deleted_by)),
            status: at.parse_option("status", given(&row.status).as_deref())?,
            transition: at.parse_option("transition", given(&row.transition).as_deref())?,
            awaits: at.parse_option("approval_id", given(&row.approval_id).as_deref())?,
            stands_on: [key_store.map(ItemId::KeyStore), local_ca.map(ItemId::LocalCa)]
                .into_iter()
                .flatten()
                .collect(),
            name: row.name,
        })
    }
}

impl Store {
    /// Every item, live and deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn retained(&self) -> Result<Vec<Retained>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(ITEMS).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(Retained::try_from).collect()
    }
}

impl Write {
    /// Every item as it stands until this transaction ends: whoever else is about to change what
    /// exists waits for it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn hold_retained(&mut self) -> Result<Vec<Retained>, StoreError> {
        let held = sqlx::query(HOLD).execute(self.connection()).await;
        held.map_err(StoreError::of("installation"))?;
        let rows: Vec<Row> = sqlx::query_as(ITEMS)
            .fetch_all(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(Retained::try_from).collect()
    }

    /// Says that a Key Store is deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_key_store_deleted(
        &mut self,
        id: KeyStoreId,
        at: OffsetDateTime,
        by: &str,
    ) -> Result<(), StoreError> {
        self.set_deleted(DELETE_KEY_STORE, id.to_string(), at, by).await
    }

    /// Says that a Certificate Issuer is deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_cert_issuer_deleted(
        &mut self,
        id: CertIssuerId,
        at: OffsetDateTime,
        by: &str,
    ) -> Result<(), StoreError> {
        self.set_deleted(DELETE_CERT_ISSUER, id.to_string(), at, by).await
    }

    /// Says that a Key Store is live again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if its name is.
    pub async fn set_key_store_restored(&mut self, id: KeyStoreId) -> Result<(), StoreError> {
        self.change_retained(RESTORE_KEY_STORE, id.to_string()).await
    }

    /// Says that a Certificate Issuer is live again.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if its name is.
    pub async fn set_cert_issuer_restored(&mut self, id: CertIssuerId) -> Result<(), StoreError> {
        self.change_retained(RESTORE_CERT_ISSUER, id.to_string()).await
    }

    /// Removes a Key Store that nothing stands on.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_key_store(&mut self, id: KeyStoreId) -> Result<(), StoreError> {
        self.change_retained(REMOVE_KEY_STORE, id.to_string()).await
    }

    /// Removes a Certificate Issuer, and who may use it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_cert_issuer(&mut self, id: CertIssuerId) -> Result<(), StoreError> {
        self.change_retained(REMOVE_TEAMS, id.to_string()).await?;
        self.change_retained(REMOVE_CERT_ISSUER, id.to_string()).await
    }

    async fn set_deleted(
        &mut self,
        statement: &'static str,
        id: String,
        at: OffsetDateTime,
        by: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(statement)
            .bind(id)
            .bind(to_millis(at))
            .bind(by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    async fn change_retained(
        &mut self,
        statement: &'static str,
        id: String,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(statement).bind(id).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
