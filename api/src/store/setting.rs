//! What administrators have set, by name.

use time::OffsetDateTime;

use super::{Store, StoreError, Write};
use crate::timestamp::to_millis;

const TABLE: &str = "setting";

statements! {
    VALUE = "SELECT value FROM setting WHERE name = $1";
    SET = "
        INSERT INTO setting (name, value, changed_at, changed_by) VALUES ($1, $2, $3, $4)
        ON CONFLICT (name) DO UPDATE
           SET value = excluded.value, changed_at = excluded.changed_at,
               changed_by = excluded.changed_by";
}

impl Store {
    /// The value of a setting, as JSON; `None` where it has its default.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        let found = sqlx::query_scalar(VALUE).bind(name).fetch_optional(self.pool()).await;
        found.map_err(StoreError::of(TABLE))
    }
}

impl Write {
    /// Sets a value; `by` is the user who does.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_setting(
        &mut self,
        name: &str,
        value: &str,
        at: OffsetDateTime,
        by: &str,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(SET)
            .bind(name)
            .bind(value)
            .bind(to_millis(at))
            .bind(by)
            .execute(self.connection())
            .await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
