//! Writing Local CAs.

use chancery_shared::id::{ApprovalId, CertificateId, KeyId, LocalCaId, SignerId};

use super::{LocalCa, TABLE};
use crate::store::{StoreError, Write};
use crate::timestamp::to_millis;

statements! {
    INSERT = "
        INSERT INTO local_ca (local_ca_id, name, key_store_id, parent_local_ca_id, key_id,
                              signer_id, subject_dn, definition, status, approval_id,
                              certificate_id, created_at, created_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    SET_KEY = "
        UPDATE local_ca SET key_id = $2, signer_id = $3 WHERE local_ca_id = $1";
    SET_DEFINITION = "
        UPDATE local_ca SET definition = $2 WHERE local_ca_id = $1";
    SET_APPROVAL = "
        UPDATE local_ca SET status = 'awaiting-approval', approval_id = $2, definition = $3
         WHERE local_ca_id = $1";
    SET_LIVE = "
        UPDATE local_ca SET status = 'live', certificate_id = $2, approval_id = NULL
         WHERE local_ca_id = $1";
    REMOVE = "
        DELETE FROM local_ca WHERE local_ca_id = $1 AND certificate_id IS NULL";
}

impl Write {
    /// Adds a Local CA.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] where a live one has the name.
    pub async fn insert_local_ca(&mut self, ca: &LocalCa) -> Result<(), StoreError> {
        sqlx::query(INSERT)
            .bind(ca.id.to_string())
            .bind(&ca.name)
            .bind(ca.key_store_id.to_string())
            .bind(ca.parent_local_ca_id.map(|id| id.to_string()))
            .bind(ca.key_id.map(|id| id.to_string()))
            .bind(ca.signer_id.map(|id| id.to_string()))
            .bind(&ca.subject_dn)
            .bind(&ca.definition)
            .bind(ca.status.as_str())
            .bind(ca.approval_id.map(|id| id.to_string()))
            .bind(ca.certificate_id.map(|id| id.to_string()))
            .bind(to_millis(ca.created_at))
            .bind(&ca.created_by)
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(())
    }

    /// Says which key the CA has.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_key(
        &mut self,
        id: LocalCaId,
        key_id: KeyId,
        signer_id: SignerId,
    ) -> Result<(), StoreError> {
        sqlx::query(SET_KEY)
            .bind(id.to_string())
            .bind(key_id.to_string())
            .bind(signer_id.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(())
    }

    /// Keeps what the CA is to be, its draft included.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_definition(
        &mut self,
        id: LocalCaId,
        definition: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(SET_DEFINITION)
            .bind(id.to_string())
            .bind(definition)
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(())
    }

    /// Says that the CA's certificate waits for the signer's operator.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_awaiting(
        &mut self,
        id: LocalCaId,
        approval_id: ApprovalId,
        definition: &str,
    ) -> Result<(), StoreError> {
        sqlx::query(SET_APPROVAL)
            .bind(id.to_string())
            .bind(approval_id.to_string())
            .bind(definition)
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(())
    }

    /// Says that the CA has its certificate and can sign.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_live(
        &mut self,
        id: LocalCaId,
        certificate_id: CertificateId,
    ) -> Result<(), StoreError> {
        sqlx::query(SET_LIVE)
            .bind(id.to_string())
            .bind(certificate_id.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(())
    }

    /// Removes a Local CA that never had a certificate.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_unfinished_local_ca(&mut self, id: LocalCaId) -> Result<(), StoreError> {
        sqlx::query(REMOVE)
            .bind(id.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(())
    }
}
