//! Certificates that an item leaves behind in the world.

use time::OffsetDateTime;

use super::ItemId;
use crate::store::row::At;
use crate::store::{Store, StoreError};
use crate::timestamp::to_millis;

const TABLE: &str = "certificate";

statements! {
    /// From the index alone; the CA's own certificate is looked up and taken off.
    UNEXPIRED_OF_LOCAL_CA = "
        SELECT COUNT(*) - (
                   SELECT COUNT(*) FROM local_ca AS ca
                     JOIN certificate AS own ON own.certificate_id = ca.certificate_id
                    WHERE ca.local_ca_id = $1 AND own.local_ca_id = $1
                      AND own.not_after >= $2 AND own.revoked = 0)
          FROM certificate
         WHERE local_ca_id = $1 AND not_after >= $2 AND revoked = 0";
    /// From the same index, since an issuer's CA stays the same. The index of issuers would lead to
    /// each row; a text that is put together does not.
    UNEXPIRED_OF_CERT_ISSUER = "
        SELECT COUNT(*) FROM certificate
         WHERE local_ca_id = (SELECT local_ca_id FROM cert_issuer WHERE cert_issuer_id = $1)
           AND not_after >= $2 AND revoked = 0 AND cert_issuer_id || '' = $1";
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
