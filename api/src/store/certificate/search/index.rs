//! SQLite's index of texts and numbers, filled in large batches: one by one it would cost each
//! certificate several times as much. What is above the mark, searches, lookups and the schema's
//! triggers read from the rows; mark and index are written by one transaction, so that holds after
//! a crash too.

use super::super::TABLE;
use super::Reading;
use super::walk::scalar;
use crate::store::engine::EngineName;
use crate::store::row::signed;
use crate::store::{Store, StoreError, Unaudited, Write};

const PROGRESS: &str = "certificate_text_progress";

statements! {
    INDEXED_UP_TO = "SELECT indexed_up_to FROM certificate_text_progress";
    /// The end of the next batch, of `$2` at most, and how many there are in it.
    NEXT_BATCH = "
        SELECT COALESCE(MAX(record_no), 0), COUNT(*)
          FROM (SELECT record_no FROM certificate WHERE record_no > $1 ORDER BY record_no LIMIT $2)";
    INDEX_SUBJECTS = "
        INSERT INTO certificate_text_subject (rowid, text)
        SELECT record_no, char(2, 2) || subject_dn
          FROM certificate WHERE record_no > $1 AND record_no <= $2 ORDER BY record_no";
    INDEX_NAMES = "
        INSERT INTO certificate_text_names (rowid, text)
        SELECT record_no, char(2, 2) || replace(subject_alt_names, char(10), char(10, 2, 2))
          FROM certificate WHERE record_no > $1 AND record_no <= $2 ORDER BY record_no";
    INDEX_DETAILS = "
        INSERT INTO certificate_text_details (rowid, text)
        SELECT record_no, char(2, 2) || extra_details
          FROM certificate
         WHERE record_no > $1 AND record_no <= $2 AND extra_details IS NOT NULL
         ORDER BY record_no";
    INDEX_NUMBERS = "
        INSERT INTO certificate_text_numbers (rowid, text)
        SELECT record_no, serial_number || 'x' || substr(issuer_key, 1, 16) || ' ' || thumbprint
          FROM certificate WHERE record_no > $1 AND record_no <= $2 ORDER BY record_no";
    SET_INDEXED_UP_TO = "UPDATE certificate_text_progress SET indexed_up_to = $1";
}

pub(super) async fn indexed_up_to(reading: &mut Reading) -> Result<i64, StoreError> {
    scalar(reading, INDEXED_UP_TO).await
}

impl Store {
    /// Whether texts must be indexed by [`Self::index_texts`]: not where the engine does so itself.
    pub fn has_texts_to_index(&self) -> bool {
        self.engine() == EngineName::Sqlite
    }

    /// Indexes the texts of the next records, `most` at most, unless there are fewer than `least`.
    /// Says how many it were; 0 on an engine that does so by itself.
    ///
    /// # Errors
    ///
    /// Only if the database fails; then none of them is indexed.
    pub async fn index_texts(&self, least: u64, most: u64) -> Result<u64, StoreError> {
        if !self.has_texts_to_index() {
            return Ok(0);
        }
        let mut reading = self.begin_reading().await?;
        let after = indexed_up_to(&mut reading).await?;
        let (_, count) = next_batch(&mut reading.transaction, after, least).await?;
        drop(reading);
        if count < signed(least.max(1)) {
            return Ok(0);
        }
        let mut write = self.begin().await?;
        let count = write.index_texts(most).await?;
        write.commit_unaudited(Unaudited::TextIndex).await?;
        Ok(count)
    }
}

impl Write {
    async fn index_texts(&mut self, most: u64) -> Result<u64, StoreError> {
        let after: i64 = sqlx::query_scalar(INDEXED_UP_TO)
            .fetch_one(self.connection())
            .await
            .map_err(StoreError::of(PROGRESS))?;
        let (up_to, count) = next_batch(self.connection(), after, most).await?;
        if count == 0 {
            return Ok(0);
        }
        for sql in [INDEX_SUBJECTS, INDEX_NAMES, INDEX_DETAILS, INDEX_NUMBERS] {
            let done = sqlx::query(sql).bind(after).bind(up_to).execute(self.connection()).await;
            done.map_err(StoreError::of(PROGRESS))?;
        }
        let set = sqlx::query(SET_INDEXED_UP_TO).bind(up_to).execute(self.connection()).await;
        set.map_err(StoreError::of(PROGRESS))?;
        Ok(count.unsigned_abs())
    }
}

async fn next_batch(
    connection: &mut sqlx::AnyConnection,
    after: i64,
    most: u64,
) -> Result<(i64, i64), StoreError> {
    let query = sqlx::query_as(NEXT_BATCH).bind(after).bind(signed(most));
    query.fetch_one(connection).await.map_err(StoreError::of(TABLE))
}
