//! Records by what a certificate from elsewhere says of itself: its bytes, and its issuer's name.

use chancery_shared::id::{CertificateId, LocalCaId};

use super::{TABLE, search};
use crate::store::row::At;
use crate::store::{Store, StoreError};

statements! {
    CAS_NAMED = "
        SELECT certificate_id, der FROM certificate WHERE is_ca = 1 AND subject_dn = $1
         ORDER BY record_no LIMIT 32";
    LOCAL_CAS_NAMED = "
        SELECT local_ca.local_ca_id, certificate.certificate_id, certificate.der
          FROM local_ca
          JOIN certificate ON certificate.certificate_id = local_ca.certificate_id
         WHERE certificate.subject_dn = $1
         ORDER BY local_ca.local_ca_id";
}

/// The record of a CA's certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaRecord {
    /// Its id.
    pub certificate_id: CertificateId,
    /// The certificate.
    pub der: Vec<u8>,
}

/// A Local CA with the record of its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalCaRecord {
    /// The Local CA, live or deleted and not yet purged.
    pub local_ca_id: LocalCaId,
    /// Its certificate.
    pub record: CaRecord,
}

impl Store {
    /// The record that holds this very certificate.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn certificate_id_by_der(
        &self,
        thumbprint: &str,
        der: &[u8],
    ) -> Result<Option<CertificateId>, StoreError> {
        let sql = search::records_by_thumbprint(self.engine());
        let found = self.records(sql, thumbprint).await?;
        // SHA-1 alone does not tell certificates apart that someone made to collide.
        Ok(found.into_iter().find(|record| record.der == der).map(|record| record.certificate_id))
    }

    /// The first records of CA certificates with this subject: anyone may bring more of them.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn cas_named(&self, subject_dn: &str) -> Result<Vec<CaRecord>, StoreError> {
        self.records(CAS_NAMED, subject_dn).await
    }

    /// The Local CAs whose certificate has this subject.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn local_cas_certified_as(
        &self,
        subject_dn: &str,
    ) -> Result<Vec<LocalCaRecord>, StoreError> {
        let rows: Vec<(String, String, Vec<u8>)> = sqlx::query_as(LOCAL_CAS_NAMED)
            .bind(subject_dn)
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of("local_ca"))?;
        let read = |(ca, id, der): (String, String, Vec<u8>)| {
            let at = At { table: "local_ca", row: &ca };
            Ok(LocalCaRecord {
                local_ca_id: at.parse("local_ca_id", &ca)?,
                record: record(&id, der)?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    async fn records(&self, sql: &'static str, key: &str) -> Result<Vec<CaRecord>, StoreError> {
        let rows: Vec<(String, Vec<u8>)> = sqlx::query_as(sql)
            .bind(key)
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        rows.into_iter().map(|(id, der)| record(&id, der)).collect()
    }
}

fn record(id: &str, der: Vec<u8>) -> Result<CaRecord, StoreError> {
    let certificate_id = At { table: TABLE, row: id }.parse("certificate_id", id)?;
    Ok(CaRecord { certificate_id, der })
}
