//! The right to work on a Local CA that is not finished: one holder at a time has it, and what
//! can't be taken back is done only while the row still says so.

use chancery_shared::id::{LocalCaId, RowId};
use time::OffsetDateTime;

use super::TABLE;
use crate::store::{StoreError, Write};
use crate::timestamp::to_millis;

statements! {
    /// Taken if it is free or has run out, or would last over ten minutes longer than this one: it
    /// was taken under a wrong clock.
    CLAIM = "
        UPDATE local_ca SET claimed_by = $2, claimed_until = $3
         WHERE local_ca_id = $1 AND (claimed_until <= $4 OR claimed_until > $3 + 600000)
           AND certificate_id IS NULL AND deleted_at IS NULL";
    RELEASE = "
        UPDATE local_ca SET claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2";
    /// The last look before each step that takes the CA back.
    SET_REMOVING = "
        UPDATE local_ca SET status = 'removing', claimed_until = $3
         WHERE local_ca_id = $1 AND claimed_by = $2 AND certificate_id IS NULL";
    SET_KEPT = "
        UPDATE local_ca SET status = 'awaiting-certificate', claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND status = 'removing'";
    REMOVE = "
        DELETE FROM local_ca
         WHERE local_ca_id = $1 AND claimed_by = $2 AND status = 'removing'
           AND certificate_id IS NULL";
}

/// A holder's right to work on one unfinished Local CA. Whether it still has it, each write says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalCaClaim {
    /// Which CA.
    pub local_ca_id: LocalCaId,
    /// Who: new for each piece of work.
    pub holder: RowId,
}

impl Write {
    /// Takes the claim until `until`, unless somebody has it; says whether it is held now.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then it is not held.
    pub async fn claim_local_ca(
        &mut self,
        claim: LocalCaClaim,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(CLAIM)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(to_millis(until))
            .bind(to_millis(now))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Gives the claim back, if it is still held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn release_local_ca(&mut self, claim: LocalCaClaim) -> Result<(), StoreError> {
        self.under(RELEASE, claim).await.map(drop)
    }

    /// Says that the CA is being taken back, and prolongs the claim; says whether it is still held.
    /// From then on the CA can't go live.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_removing(
        &mut self,
        claim: LocalCaClaim,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_REMOVING)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(to_millis(until))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Says that the CA is not taken back after all, and gives the claim back; says whether it was
    /// still held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn keep_local_ca(&mut self, claim: LocalCaClaim) -> Result<bool, StoreError> {
        self.under(SET_KEPT, claim).await
    }

    /// Removes a Local CA that is being taken back; says whether the claim was still held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_unfinished_local_ca(
        &mut self,
        claim: LocalCaClaim,
    ) -> Result<bool, StoreError> {
        self.under(REMOVE, claim).await
    }

    async fn under(&mut self, sql: &'static str, claim: LocalCaClaim) -> Result<bool, StoreError> {
        let done = sqlx::query(sql)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }
}
