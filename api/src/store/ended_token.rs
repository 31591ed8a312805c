//! Bearer tokens that ended before their time, by logout.

use chancery_shared::id::RowId;
use time::OffsetDateTime;

use super::{StoreError, Write};
use crate::timestamp::to_millis;

const TABLE: &str = "ended_token";

statements! {
    END = "
        INSERT INTO ended_token (token_id, expires_at) VALUES ($1, $2)
        ON CONFLICT (token_id) DO NOTHING";
    FORGET_EXPIRED = "DELETE FROM ended_token WHERE expires_at <= $1";
}

impl Write {
    /// Ends the token `id`, which would have expired at `expires_at`.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then the token lives on.
    pub async fn end_token(
        &mut self,
        id: RowId,
        expires_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(END)
            .bind(id.to_string())
            .bind(to_millis(expires_at))
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Forgets ended tokens that are past their time by now anyway.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn forget_expired_tokens(&mut self, now: OffsetDateTime) -> Result<u64, StoreError> {
        let done = sqlx::query(FORGET_EXPIRED)
            .bind(to_millis(now))
            .execute(self.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        Ok(done.rows_affected())
    }
}
