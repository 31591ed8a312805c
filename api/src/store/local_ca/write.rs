//! Writing Local CAs.

use chancery_shared::id::{ApprovalId, CertificateId, KeyId, LocalCaId, SignerId};
use time::OffsetDateTime;

use super::{LocalCa, LocalCaClaim, TABLE};
use crate::store::{StoreError, Write};
use crate::timestamp::to_millis;

statements! {
    INSERT = "
        INSERT INTO local_ca (local_ca_id, name, key_store_id, parent_local_ca_id, key_id,
                              signer_id, subject_dn, definition, status, approval_id,
                              certificate_id, created_at, created_by)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    SET_KEY = "
        UPDATE local_ca SET key_id = $3, signer_id = $4
         WHERE local_ca_id = $1 AND claimed_by = $2";
    SET_DEFINITION = "
        UPDATE local_ca SET definition = $3, claimed_until = $4
         WHERE local_ca_id = $1 AND claimed_by = $2 AND status = 'awaiting-certificate'";
    SET_APPROVAL = "
        UPDATE local_ca SET status = 'awaiting-approval', approval_id = $3, claimed_by = NULL,
                            claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND status = 'awaiting-certificate'";
    SET_LIVE = "
        UPDATE local_ca SET status = 'live', certificate_id = $2, approval_id = NULL,
                            claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND status IN ('awaiting-certificate', 'awaiting-approval')";
    UPDATE = "
        UPDATE local_ca SET name = $2, definition = $3, status = $4
         WHERE local_ca_id = $1 AND status IN ('live', 'offline') AND deleted_at IS NULL
           AND transition IS NULL";
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

    /// Changes name, definition and status of a CA that is live or offline; says whether it is.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] where another live one has the name.
    pub async fn update_local_ca(&mut self, ca: &LocalCa) -> Result<bool, StoreError> {
        let done = sqlx::query(UPDATE)
            .bind(ca.id.to_string())
            .bind(&ca.name)
            .bind(&ca.definition)
            .bind(ca.status.as_str())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Says which key the CA has; says whether the claim was still held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_key(
        &mut self,
        claim: LocalCaClaim,
        key_id: KeyId,
        signer_id: SignerId,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_KEY)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(key_id.to_string())
            .bind(signer_id.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Keeps what the CA is to be, its draft included, and prolongs the claim; says whether it was
    /// still held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_definition(
        &mut self,
        claim: LocalCaClaim,
        definition: &str,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_DEFINITION)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(definition)
            .bind(to_millis(until))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Says that the CA's certificate waits for the signer's operator, and gives the claim back;
    /// says whether it was still held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_awaiting(
        &mut self,
        claim: LocalCaClaim,
        approval_id: ApprovalId,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_APPROVAL)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(approval_id.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Says that the CA has its certificate and can sign, whoever works on it; says whether it
    /// waited for that and is not being taken back.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_live(
        &mut self,
        id: LocalCaId,
        certificate_id: CertificateId,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_LIVE)
            .bind(id.to_string())
            .bind(certificate_id.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }
}
