//! Removing a record with all that belongs to it alone.

use chancery_shared::id::{CertificateId, LocalCaId};

use super::{Certificate, HISTORY, TABLE};
use crate::store::row::At;
use crate::store::{StoreError, Write};

statements! {
    DELETE_HISTORY = "DELETE FROM history WHERE certificate_id = $1";
    DELETE_CERTIFICATE = "DELETE FROM certificate WHERE certificate_id = $1";
    DELETE_CSR = "DELETE FROM csr WHERE csr_id = $1";
    FORGET_RENEWING = "
        UPDATE certificate SET renewed_by_certificate_id = NULL
         WHERE renewed_by_certificate_id = $1";
    FORGET_RENEWED = "
        UPDATE certificate SET renews_certificate_id = NULL WHERE renews_certificate_id = $1";
    FORGET_ISSUER = "
        UPDATE certificate SET issuer_certificate_id = NULL WHERE issuer_certificate_id = $1";
    LOCAL_CA_OF = "SELECT local_ca_id, name FROM local_ca WHERE certificate_id = $1";
}

impl Write {
    /// The Local CA, live or deleted and not yet purged, whose certificate this is.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn local_ca_of(
        &mut self,
        id: CertificateId,
    ) -> Result<Option<(LocalCaId, String)>, StoreError> {
        let row: Option<(String, String)> = sqlx::query_as(LOCAL_CA_OF)
            .bind(id.to_string())
            .fetch_optional(self.connection())
            .await
            .map_err(StoreError::of("local_ca"))?;
        let read = |(id, name): (String, String)| {
            let at = At { table: "local_ca", row: &id };
            Ok((at.parse("local_ca_id", &id)?, name))
        };
        row.map(read).transpose()
    }

    /// Removes the record of `certificate`, which this transaction holds: its history, its CSR,
    /// what is kept of its key, and what other records say of it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn delete_certificate(
        &mut self,
        certificate: &Certificate,
    ) -> Result<(), StoreError> {
        let id = certificate.id.to_string();
        self.remove_key_data(certificate.id).await?;
        self.run(HISTORY, DELETE_HISTORY, &id).await?;
        self.run(TABLE, DELETE_CERTIFICATE, &id).await?;
        if let Some(csr) = certificate.csr_id {
            self.run("csr", DELETE_CSR, &csr.to_string()).await?;
        }
        self.run(TABLE, FORGET_RENEWING, &id).await?;
        self.run(TABLE, FORGET_RENEWED, &id).await?;
        if certificate.is_ca {
            self.run(TABLE, FORGET_ISSUER, &id).await?;
        }
        Ok(())
    }

    async fn run(
        &mut self,
        table: &'static str,
        sql: &'static str,
        id: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(sql).bind(id).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(table))
    }
}
