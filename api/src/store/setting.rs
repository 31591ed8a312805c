//! What administrators have set, by name.

use std::collections::HashMap;

use time::OffsetDateTime;

use super::{Store, StoreError, Write};
use crate::timestamp::to_millis;

const TABLE: &str = "setting";

statements! {
    ALL = "SELECT name, value FROM setting";
    SET = "
        INSERT INTO setting (name, value, changed_at, changed_by) VALUES ($1, $2, $3, $4)
        ON CONFLICT (name) DO UPDATE
           SET value = excluded.value, changed_at = excluded.changed_at,
               changed_by = excluded.changed_by";
}

impl Store {
    /// What is set, by name, as JSON; a setting that is not there has its default.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn settings(&self) -> Result<HashMap<String, String>, StoreError> {
        let rows: Vec<(String, String)> =
            sqlx::query_as(ALL).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        Ok(rows.into_iter().collect())
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
