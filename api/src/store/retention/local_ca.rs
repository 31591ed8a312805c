//! Transitions of Local CAs: marked before the key changes, recorded after it. One holder at a time
//! works on each.

use chancery_shared::id::{ApprovalId, LocalCaId, RowId};
use time::OffsetDateTime;

use super::Transition;
use crate::store::row::At;
use crate::store::{Store, StoreError, Write};
use crate::timestamp::to_millis;

const TABLE: &str = "local_ca";

statements! {
    MARK = "
        UPDATE local_ca SET transition = $3, transition_by = $4, claimed_by = $2,
                            claimed_until = $5, approval_id = NULL
         WHERE local_ca_id = $1 AND transition IS NULL";
    PENDING = "
        SELECT local_ca_id, transition, COALESCE(transition_by, '') AS transition_by, approval_id
          FROM local_ca WHERE transition IS NOT NULL ORDER BY local_ca_id";
    /// Taken if it is free or has run out, or would last over ten minutes longer than this one: it
    /// was taken under a wrong clock.
    TAKE = "
        UPDATE local_ca SET claimed_by = $2, claimed_until = $3
         WHERE local_ca_id = $1 AND transition = $5
           AND (claimed_until <= $4 OR claimed_until > $3 + 600000)";
    RELEASE = "
        UPDATE local_ca SET claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND transition IS NOT NULL";
    AWAIT = "
        UPDATE local_ca SET approval_id = $3, claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND transition = 'restoring'";
    GIVE_UP = "
        UPDATE local_ca SET transition = NULL, transition_by = NULL, approval_id = NULL,
                            claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND transition IS NOT NULL";
    SET_DELETED = "
        UPDATE local_ca SET deleted_at = $3, deleted_by = $4, transition = NULL,
                            transition_by = NULL, claimed_by = NULL, claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND transition = 'deleting'";
    SET_RESTORED = "
        UPDATE local_ca SET deleted_at = NULL, deleted_by = NULL, transition = NULL,
                            transition_by = NULL, approval_id = NULL, claimed_by = NULL,
                            claimed_until = 0
         WHERE local_ca_id = $1 AND claimed_by = $2 AND transition = 'restoring'";
    REMOVE = "
        DELETE FROM local_ca
         WHERE local_ca_id = $1 AND claimed_by = $2 AND transition = 'removing'";
}

/// A holder's right to work on a Local CA in transition. Whether it still has it, each write says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransitionClaim {
    /// Which CA.
    pub local_ca_id: LocalCaId,
    /// Who: new for each piece of work.
    pub holder: RowId,
}

/// A transition that is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Of this CA.
    pub local_ca_id: LocalCaId,
    /// Which.
    pub transition: Transition,
    /// Who began it, as JSON.
    pub by: String,
    /// By which the signer's operator decides, where it waits for that.
    pub approval_id: Option<ApprovalId>,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    local_ca_id: String,
    transition: String,
    transition_by: String,
    approval_id: Option<String>,
}

impl Store {
    /// The transitions that are not finished.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn pending_transitions(&self) -> Result<Vec<Pending>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(PENDING).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        let read = |row: Row| {
            let at = At { table: TABLE, row: &row.local_ca_id };
            Ok(Pending {
                local_ca_id: at.parse("local_ca_id", &row.local_ca_id)?,
                transition: at.parse("transition", &row.transition)?,
                approval_id: at.parse_option("approval_id", row.approval_id.as_deref())?,
                by: row.transition_by,
            })
        };
        rows.into_iter().map(read).collect()
    }
}

impl Write {
    /// Says what is about to happen to a CA, and takes the claim until `until`; says whether
    /// nothing else was under way.
    ///
    /// # Errors
    ///
    /// [`StoreError::Taken`] if the name of a CA that is to be restored is.
    pub async fn mark_transition(
        &mut self,
        claim: TransitionClaim,
        transition: Transition,
        by: &str,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(MARK)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(transition.as_str())
            .bind(by)
            .bind(to_millis(until))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Takes the claim on a transition that somebody left; says whether it is held now.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn take_transition(
        &mut self,
        claim: TransitionClaim,
        transition: Transition,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(TAKE)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(to_millis(until))
            .bind(to_millis(now))
            .bind(transition.as_str())
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Lets the next one go on with the transition.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn release_transition(&mut self, claim: TransitionClaim) -> Result<bool, StoreError> {
        self.end(RELEASE, claim, None).await
    }

    /// Says that a restore waits for the signer's operator, and lets the next one look.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_restore_awaiting(
        &mut self,
        claim: TransitionClaim,
        approval: ApprovalId,
    ) -> Result<bool, StoreError> {
        self.end(AWAIT, claim, Some(approval)).await
    }

    /// The transition does not happen: the CA is what it was. Says whether the claim was held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn give_transition_up(&mut self, claim: TransitionClaim) -> Result<bool, StoreError> {
        self.end(GIVE_UP, claim, None).await
    }

    /// Says that the CA is deleted; says whether the claim was held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_deleted(
        &mut self,
        claim: TransitionClaim,
        at: OffsetDateTime,
        by: &str,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(SET_DELETED)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string())
            .bind(to_millis(at))
            .bind(by)
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }

    /// Says that the CA is live again; says whether the claim was held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_local_ca_restored(
        &mut self,
        claim: TransitionClaim,
    ) -> Result<bool, StoreError> {
        self.end(SET_RESTORED, claim, None).await
    }

    /// Removes the CA's row; says whether the claim was held.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn remove_local_ca(&mut self, claim: TransitionClaim) -> Result<bool, StoreError> {
        self.end(REMOVE, claim, None).await
    }

    async fn end(
        &mut self,
        statement: &'static str,
        claim: TransitionClaim,
        approval: Option<ApprovalId>,
    ) -> Result<bool, StoreError> {
        let mut query = sqlx::query(statement)
            .bind(claim.local_ca_id.to_string())
            .bind(claim.holder.to_string());
        if let Some(approval) = approval {
            query = query.bind(approval.to_string());
        }
        let done = query.execute(self.connection()).await.map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected() == 1)
    }
}
