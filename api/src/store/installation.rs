//! Facts about this installation: which steps of the first start are done, and by which rows.

use super::{Store, StoreError, Write};

const TABLE: &str = "installation";

statements! {
    FACT = "SELECT value FROM installation WHERE name = $1";
    SET_FACT = "
        INSERT INTO installation (name, value) VALUES ($1, $2)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value";
}

impl Store {
    /// The value of the fact `name`, once it is set.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn fact(&self, name: &str) -> Result<Option<String>, StoreError> {
        sqlx::query_scalar(FACT)
            .bind(name)
            .fetch_optional(self.pool())
            .await
            .map_err(StoreError::of(TABLE))
    }
}

impl Write {
    /// Sets the fact `name`, whether or not it was set before.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn set_fact(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        let done = sqlx::query(SET_FACT).bind(name).bind(value).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
