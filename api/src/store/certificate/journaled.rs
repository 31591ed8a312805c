//! Records by the entry of the signer's journal that they name.

use chancery_shared::bytes::Hash;
use chancery_shared::id::{CertificateId, SignerId};

use super::TABLE;
use crate::store::row::{At, signed};
use crate::store::{Store, StoreError};

statements! {
    IN_RANGE = "
        SELECT certificate_id, serial_number, journal_seq, journal_hash
          FROM certificate
         WHERE signer_id = $1 AND journal_seq > $2 AND journal_seq <= $3
         ORDER BY journal_seq, certificate_id";
    COUNT_IN_RANGE = "
        SELECT COUNT(*)
          FROM certificate
         WHERE signer_id = $1 AND journal_seq > $2 AND journal_seq <= $3";
}

/// What a record says of its entry in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournaledRecord {
    /// The record.
    pub certificate_id: CertificateId,
    /// Its serial number.
    pub serial_number: String,
    /// Number of the entry.
    pub seq: u64,
    /// Hash of the entry; `None` in a record that this service did not write.
    pub hash: Option<Hash>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    certificate_id: String,
    serial_number: String,
    journal_seq: i64,
    journal_hash: Option<String>,
}

impl TryFrom<Row> for JournaledRecord {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let at = At { table: TABLE, row: &row.certificate_id };
        Ok(Self {
            certificate_id: at.parse("certificate_id", &row.certificate_id)?,
            seq: at.unsigned("journal_seq", row.journal_seq)?,
            hash: row.journal_hash.and_then(|text| text.parse().ok()),
            serial_number: row.serial_number,
        })
    }
}

impl Store {
    /// The records that name an entry above `after`, up to `up_to`, of this signer's journal.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn journaled_records(
        &self,
        signer_id: SignerId,
        after: u64,
        up_to: u64,
    ) -> Result<Vec<JournaledRecord>, StoreError> {
        let rows: Vec<Row> = sqlx::query_as(IN_RANGE)
            .bind(signer_id.to_string())
            .bind(signed(after))
            .bind(signed(up_to))
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(JournaledRecord::try_from).collect()
    }

    /// How many they are.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn count_journaled_records(
        &self,
        signer_id: SignerId,
        after: u64,
        up_to: u64,
    ) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar(COUNT_IN_RANGE)
            .bind(signer_id.to_string())
            .bind(signed(after))
            .bind(signed(up_to))
            .fetch_one(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}
