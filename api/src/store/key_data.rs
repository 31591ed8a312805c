//! Private keys that are kept for a while, and the keys that they are sealed under.

use chancery_shared::id::{CertificateId, RowId};
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "key_data";
const KEYS: &str = "data_key";

statements! {
    OF = "SELECT data_key_id, p12, jks, pem, kept_at FROM key_data WHERE certificate_id = $1";
    DUE = "
        SELECT certificate_id FROM key_data WHERE kept_at <= $1
         ORDER BY kept_at, certificate_id LIMIT $2";
    // Overwritten first: SQLite then zeroes the bytes in the page that stays.
    OVERWRITE = "UPDATE key_data SET p12 = NULL, jks = NULL, pem = NULL WHERE certificate_id = $1";
    DELETE = "DELETE FROM key_data WHERE certificate_id = $1";
    FORGET = "UPDATE certificate SET has_key_data = 0 WHERE certificate_id = $1";
    KEY = "SELECT data_key_id, token, sealed, created_at FROM data_key WHERE data_key_id = $1";
    KEY_IDS = "SELECT data_key_id FROM data_key ORDER BY created_at DESC, data_key_id";
    NEWEST_KEY = "
        SELECT data_key_id, token, sealed, created_at FROM data_key
         WHERE token = $1 AND created_at > $2 ORDER BY created_at DESC, data_key_id LIMIT 1";
    INSERT_KEY = "
        INSERT INTO data_key (data_key_id, token, sealed, created_at) VALUES ($1, $2, $3, $4)";
    DELETE_IDLE_KEYS = "
        DELETE FROM data_key
         WHERE created_at <= $1
           AND NOT EXISTS (SELECT 1 FROM key_data WHERE key_data.data_key_id = data_key.data_key_id)";
}

/// The packages of one certificate, sealed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyData {
    /// Under which key.
    pub data_key_id: RowId,
    /// PKCS#12.
    pub p12: Vec<u8>,
    /// JKS.
    pub jks: Vec<u8>,
    /// PEM.
    pub pem: Vec<u8>,
    /// Since when.
    pub kept_at: OffsetDateTime,
}

/// A key that key data is sealed under, itself sealed by a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedKey {
    /// Its id.
    pub id: RowId,
    /// The token that opens it.
    pub token: String,
    /// What that token made of it.
    pub sealed: Vec<u8>,
    /// When it was made.
    pub created_at: OffsetDateTime,
}

type KeyDataRow = (String, Option<Vec<u8>>, Option<Vec<u8>>, Option<Vec<u8>>, i64);
type KeyRow = (String, String, Vec<u8>, i64);

fn key((id, token, sealed, created_at): KeyRow) -> Result<SealedKey, StoreError> {
    let id = At { table: KEYS, row: &id }.parse("data_key_id", &id)?;
    Ok(SealedKey { id, token, sealed, created_at: from_millis(created_at) })
}

impl Store {
    /// What is kept of a certificate's key.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn key_data(&self, id: CertificateId) -> Result<Option<KeyData>, StoreError> {
        let row: Option<KeyDataRow> = sqlx::query_as(OF)
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let Some((data_key_id, Some(p12), Some(jks), Some(pem), kept_at)) = row else {
            return Ok(None);
        };
        let at = At { table: TABLE, row: &data_key_id };
        let data_key_id = at.parse("data_key_id", &data_key_id)?;
        Ok(Some(KeyData { data_key_id, p12, jks, pem, kept_at: from_millis(kept_at) }))
    }

    /// Up to `most` certificates whose key data has been kept since `before` or longer.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn key_data_kept_since(
        &self,
        before: OffsetDateTime,
        most: u16,
    ) -> Result<Vec<CertificateId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar(DUE)
            .bind(to_millis(before))
            .bind(i64::from(most))
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let read = |id: &String| At { table: TABLE, row: id }.parse("certificate_id", id);
        ids.iter().map(read).collect()
    }

    /// The data key of this id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn data_key(&self, id: RowId) -> Result<Option<SealedKey>, StoreError> {
        let row: Option<KeyRow> = sqlx::query_as(KEY)
            .bind(id.to_string())
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(KEYS))?;
        row.map(key).transpose()
    }

    /// All data keys, the newest first: one a day and token, for as long as anything is kept.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn data_key_ids(&self) -> Result<Vec<RowId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar(KEY_IDS)
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(KEYS))?;
        let read = |id: &String| At { table: KEYS, row: id }.parse("data_key_id", id);
        ids.iter().map(read).collect()
    }

    /// The newest data key of a token that was made after `after`.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn newest_data_key(
        &self,
        token: &str,
        after: OffsetDateTime,
    ) -> Result<Option<SealedKey>, StoreError> {
        let row: Option<KeyRow> = sqlx::query_as(NEWEST_KEY)
            .bind(token)
            .bind(to_millis(after))
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(KEYS))?;
        row.map(key).transpose()
    }
}

impl Write {
    /// Inserts a data key.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn insert_data_key(&mut self, key: &SealedKey) -> Result<(), StoreError> {
        let done = sqlx::query(INSERT_KEY)
            .bind(key.id.to_string())
            .bind(&key.token)
            .bind(&key.sealed)
            .bind(to_millis(key.created_at))
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(KEYS))
    }

    /// Removes what is kept of a certificate's key; says whether anything was.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_key_data(&mut self, id: CertificateId) -> Result<bool, StoreError> {
        self.leaves_old_pages();
        let mut removed = 0;
        for sql in [OVERWRITE, DELETE, FORGET] {
            let done = sqlx::query(sql).bind(id.to_string()).execute(self.connection()).await;
            let rows = done.map_err(StoreError::of(TABLE))?.rows_affected();
            removed += if sql == DELETE { rows } else { 0 };
        }
        Ok(removed > 0)
    }

    /// Deletes the data keys that were made by `before` and that nothing is sealed under.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn delete_idle_data_keys(
        &mut self,
        before: OffsetDateTime,
    ) -> Result<u64, StoreError> {
        let done =
            sqlx::query(DELETE_IDLE_KEYS).bind(to_millis(before)).execute(self.connection()).await;
        Ok(done.map_err(StoreError::of(KEYS))?.rows_affected())
    }
}
