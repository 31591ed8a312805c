//! What is left of certificates whose record an administrator deleted.

use chancery_shared::id::LocalCaId;
use time::OffsetDateTime;

use crate::store::row::At;
use crate::store::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "certificate_tombstone";

statements! {
    IS_TOMBSTONED = "
        SELECT COUNT(*)
          FROM certificate_tombstone
         WHERE issuer_key = $1 AND serial_number = $2";
    BY_SERIAL = "
        SELECT local_ca_id, not_after, revoked_at, revocation_reason, deleted_at, deleted_by
          FROM certificate_tombstone
         WHERE issuer_key = $1 AND serial_number = $2";
    INSERT = "
        INSERT INTO certificate_tombstone (issuer_key, serial_number, local_ca_id, not_after,
                                           revoked_at, revocation_reason, deleted_at, deleted_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
        ON CONFLICT (issuer_key, serial_number) DO NOTHING";
    DELETE = "DELETE FROM certificate_tombstone WHERE issuer_key = $1 AND serial_number = $2";
}

/// The certificate whose record was deleted, and who did that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// As in its record.
    pub issuer_key: String,
    /// As in its record.
    pub serial_number: String,
    /// The Local CA that signed it.
    pub local_ca_id: Option<LocalCaId>,
    /// The end of its life; `None` in a row of an earlier version.
    pub not_after: Option<OffsetDateTime>,
    /// Since when it is revoked, which it stays.
    pub revoked_at: Option<OffsetDateTime>,
    /// Why.
    pub revocation_reason: Option<String>,
    /// When its record was deleted.
    pub deleted_at: OffsetDateTime,
    /// By whom.
    pub deleted_by: String,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    local_ca_id: Option<String>,
    not_after: Option<i64>,
    revoked_at: Option<i64>,
    revocation_reason: Option<String>,
    deleted_at: i64,
    deleted_by: String,
}

impl Store {
    /// Whether an administrator deleted the record of this certificate: then it stays deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn is_tombstoned(
        &self,
        issuer_key: &str,
        serial_number: &str,
    ) -> Result<bool, StoreError> {
        let rows: i64 = sqlx::query_scalar(IS_TOMBSTONED)
            .bind(issuer_key)
            .bind(serial_number)
            .fetch_one(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(rows > 0)
    }
}

impl Write {
    /// What is left of this certificate, if its record was deleted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn tombstone(
        &mut self,
        issuer_key: &str,
        serial_number: &str,
    ) -> Result<Option<Tombstone>, StoreError> {
        let row: Option<Row> = sqlx::query_as(BY_SERIAL)
            .bind(issuer_key)
            .bind(serial_number)
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        let Some(row) = row else { return Ok(None) };
        let at = At { table: TABLE, row: serial_number };
        Ok(Some(Tombstone {
            issuer_key: issuer_key.to_owned(),
            serial_number: serial_number.to_owned(),
            local_ca_id: at.parse_option("local_ca_id", row.local_ca_id.as_deref())?,
            not_after: row.not_after.map(from_millis),
            revoked_at: row.revoked_at.map(from_millis),
            revocation_reason: row.revocation_reason,
            deleted_at: from_millis(row.deleted_at),
            deleted_by: row.deleted_by,
        }))
    }

    /// Remembers that the record of this certificate was deleted on purpose.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn insert_tombstone(&mut self, tombstone: &Tombstone) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT)
            .bind(&tombstone.issuer_key)
            .bind(&tombstone.serial_number)
            .bind(tombstone.local_ca_id.map(|id| id.to_string()))
            .bind(tombstone.not_after.map(to_millis))
            .bind(tombstone.revoked_at.map(to_millis))
            .bind(tombstone.revocation_reason.as_deref())
            .bind(to_millis(tombstone.deleted_at))
            .bind(&tombstone.deleted_by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Forgets that a record was deleted: there is one again.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn delete_tombstone(
        &mut self,
        issuer_key: &str,
        serial_number: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(DELETE)
            .bind(issuer_key)
            .bind(serial_number)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
