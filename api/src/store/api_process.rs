//! The API processes on this database, each as it last said of itself.

use chancery_shared::id::RowId;
use time::OffsetDateTime;

use super::row::At;
use super::{Store, StoreError, Write};
use crate::timestamp::{from_millis, to_millis};

const TABLE: &str = "api_process";

statements! {
    ALL = "SELECT process_id, purge_after_days, seen_at FROM api_process ORDER BY process_id";
    SEE = "
        INSERT INTO api_process (process_id, purge_after_days, seen_at) VALUES ($1, $2, $3)
        ON CONFLICT (process_id) DO UPDATE SET seen_at = excluded.seen_at";
    FORGET = "DELETE FROM api_process WHERE seen_at < $1";
    LEAVE = "DELETE FROM api_process WHERE process_id = $1";
}

/// A process that serves the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiProcess {
    /// New at each start.
    pub id: RowId,
    /// `deleteditems.purge.afterdays`, as it has read it.
    pub purge_after_days: u32,
    /// When it last said so.
    pub seen_at: OffsetDateTime,
}

#[derive(Debug, sqlx::FromRow)]
struct Row {
    process_id: String,
    purge_after_days: i64,
    seen_at: i64,
}

impl Store {
    /// Every process that has not been forgotten.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn api_processes(&self) -> Result<Vec<ApiProcess>, StoreError> {
        let rows: Vec<Row> =
            sqlx::query_as(ALL).fetch_all(self.pool()).await.map_err(StoreError::of(TABLE))?;
        let read = |row: Row| {
            let at = At { table: TABLE, row: &row.process_id };
            let days = u32::try_from(row.purge_after_days);
            Ok(ApiProcess {
                id: at.parse("process_id", &row.process_id)?,
                purge_after_days: days.map_err(|_| at.unreadable("purge_after_days"))?,
                seen_at: from_millis(row.seen_at),
            })
        };
        rows.into_iter().map(read).collect()
    }
}

impl Write {
    /// Says that the process is there, and forgets those that were last seen before `since`.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn see_api_process(
        &mut self,
        process: ApiProcess,
        since: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let done = sqlx::query(SEE)
            .bind(process.id.to_string())
            .bind(i64::from(process.purge_after_days))
            .bind(to_millis(process.seen_at))
            .execute(self.connection())
            .await;
        done.map_err(StoreError::of(TABLE))?;
        let done = sqlx::query(FORGET).bind(to_millis(since)).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }

    /// Says that the process ends.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn leave_api_process(&mut self, id: RowId) -> Result<(), StoreError> {
        let done = sqlx::query(LEAVE).bind(id.to_string()).execute(self.connection()).await;
        done.map(drop).map_err(StoreError::of(TABLE))
    }
}
