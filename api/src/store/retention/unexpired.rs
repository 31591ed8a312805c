//! Certificates that an item leaves behind in the world.

use time::OffsetDateTime;

use super::ItemId;
use crate::store::row::At;
use crate::store::{Store, StoreError};
use crate::timestamp::to_millis;

const TABLE: &str = "certificate";

statements! {
    /// By the shelves of the index over ends, so that only what has not ended is looked at.
    UNEXPIRED_OF_LOCAL_CA = "
        SELECT COUNT(*) FROM certificate
         WHERE (not_after / 2592000000 * 4 + revoked * 2 + renewed) >= $2 / 2592000000 * 4
           AND local_ca_id = $1 AND not_after >= $2 AND revoked = 0
           AND certificate_id NOT IN (SELECT certificate_id FROM local_ca
                                       WHERE local_ca_id = $1 AND certificate_id IS NOT NULL)";
    UNEXPIRED_OF_CERT_ISSUER = "
        SELECT COUNT(*) FROM certificate
         WHERE (not_after / 2592000000 * 4 + revoked * 2 + renewed) >= $2 / 2592000000 * 4
           AND cert_issuer_id = $1 AND not_after >= $2 AND revoked = 0";
}

impl Store {
    /// How many certificates of this item are neither over at `now` nor revoked; its own, of a
    /// Local CA, is not counted.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn unexpired(&self, id: ItemId, now: OffsetDateTime) -> Result<u64, StoreError> {
        let (statement, id) = match id {
            ItemId::KeyStore(_) => return Ok(0),
            ItemId::LocalCa(id) => (UNEXPIRED_OF_LOCAL_CA, id.to_string()),
            ItemId::CertIssuer(id) => (UNEXPIRED_OF_CERT_ISSUER, id.to_string()),
        };
        let count: i64 = sqlx::query_scalar(statement)
            .bind(&id)
            .bind(to_millis(now))
            .fetch_one(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        At { table: TABLE, row: &id }.unsigned("count", count)
    }
}
