//! Jobs that one API process at a time may run.

use time::OffsetDateTime;

use super::{Store, StoreError, Unaudited, Write};
use crate::timestamp::to_millis;

const TABLE: &str = "lease";

statements! {
    /// Taken if it is free, run out, or the holder's own; also one that would last over ten
    /// minutes longer than this one: it was taken under a wrong clock.
    TAKE = "
        INSERT INTO lease (name, holder, until) VALUES ($1, $2, $3)
        ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE lease.holder = excluded.holder OR lease.until <= $4
            OR lease.until > excluded.until + 600000";
    GIVE_BACK = "DELETE FROM lease WHERE name = $1 AND holder = $2";
}

impl Store {
    /// Takes or prolongs the lease `name` for `holder` until `until`; says whether it is held.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then it is not held.
    pub async fn take_lease(
        &self,
        name: &str,
        holder: &str,
        now: OffsetDateTime,
        until: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut write = self.begin().await?;
        let done = sqlx::query(TAKE)
            .bind(name)
            .bind(holder)
            .bind(to_millis(until))
            .bind(to_millis(now))
            .execute(write.connection())
            .await
            .map_err(StoreError::of(TABLE))?;
        write.commit_unaudited(Unaudited::Lease).await?;
        Ok(done.rows_affected() == 1)
    }
}

impl Write {
    /// Ends the lease before its time, if `holder` has it.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn give_lease_back(&mut self, name: &str, holder: &str) -> Result<(), StoreError> {
        let done = sqlx::query(GIVE_BACK).bind(name).bind(holder).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
