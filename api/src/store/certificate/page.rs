//! Reading certificates page by page: constant memory and flat cost for any number of rows.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt as _};
use sqlx::AnyConnection;
use sqlx::query::QueryAs;

use super::read::{HistoryRow, Row};
use super::search::{Found, RecordNo, Search};
use super::{HISTORY, HistoryEntry, StoredCertificate, TABLE};
use crate::store::{Store, StoreError};

/// As many parameters as rows are read at once.
macro_rules! some {
    () => {
        "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20,
          $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38,
          $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56,
          $57, $58, $59, $60, $61, $62, $63, $64)"
    };
}

const AT_ONCE: usize = 64;

statements! {
    NUMBERS = "
        SELECT record_no FROM certificate WHERE record_no > $1 ORDER BY record_no LIMIT $2";
    SOME = concat!(select!(certificate "WHERE certificate.record_no IN "), some!(),
         " ORDER BY certificate.record_no");
    HISTORIES = concat!(select!(history "WHERE certificate_id IN "), some!(),
         " ORDER BY happened_at, history_id");
}

impl Store {
    /// At most `limit` certificates after the record `after`, in the order of recording.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn certificates_after(
        &self,
        after: Option<RecordNo>,
        limit: u32,
    ) -> Result<Found, StoreError> {
        // One more tells whether there is a next page.
        let mut numbers: Vec<i64> = sqlx::query_scalar(NUMBERS)
            .bind(after.map_or(i64::MIN, |after| after.0))
            .bind(i64::from(limit) + 1)
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let has_more = numbers.len() > limit as usize;
        numbers.truncate(limit as usize);
        let next = numbers.last().filter(|_| has_more).copied().map(RecordNo);
        let mut connection = self.pool().acquire().await.map_err(StoreError::of(TABLE))?;
        Ok(Found { certificates: load(&mut connection, &numbers).await?, next })
    }

    /// All wanted certificates in the order of recording, after the record `after` if given. No
    /// connection is held between pages, so a slow reader costs nothing; what is recorded meanwhile
    /// may appear or not.
    pub fn certificates(
        &self,
        search: Search,
        after: Option<RecordNo>,
    ) -> impl Stream<Item = Result<StoredCertificate, StoreError>> + Send + use<> {
        let page = VecDeque::new();
        let start = Position { store: self.clone(), search, after, page, ended: false };
        stream::unfold(start, |mut at| async move {
            let item = at.next().await.transpose()?;
            Some((item, at))
        })
        .boxed()
    }
}

/// The certificates of these numbers, which ascend, with their histories.
pub(super) async fn load(
    connection: &mut AnyConnection,
    numbers: &[i64],
) -> Result<Vec<StoredCertificate>, StoreError> {
    let mut certificates = Vec::with_capacity(numbers.len());
    for some in numbers.chunks(AT_ONCE) {
        // No record has the number that fills up.
        let filled = some.iter().copied().chain(std::iter::repeat(-1)).take(AT_ONCE);
        let query = filled.fold(sqlx::query_as::<_, Row>(SOME), QueryAs::bind);
        let rows = query.fetch_all(&mut *connection).await.map_err(StoreError::of(TABLE))?;
        let ids = rows.iter().map(Row::id).chain(std::iter::repeat("")).take(AT_ONCE);
        let query = ids.fold(sqlx::query_as(HISTORIES), |query, id| query.bind(id.to_owned()));
        let histories: Vec<HistoryRow> =
            query.fetch_all(&mut *connection).await.map_err(StoreError::of(HISTORY))?;
        let mut of_id: HashMap<String, Vec<HistoryEntry>> = HashMap::new();
        for row in histories {
            let id = row.certificate_id.clone();
            of_id.entry(id).or_default().push(row.entry()?);
        }
        for row in rows {
            let history = of_id.remove(row.id()).unwrap_or_default();
            certificates.push(StoredCertificate { history, ..row.try_into()? });
        }
    }
    Ok(certificates)
}

/// Where a reader of all certificates stands.
struct Position {
    store: Store,
    search: Search,
    after: Option<RecordNo>,
    page: VecDeque<StoredCertificate>,
    ended: bool,
}

impl Position {
    async fn next(&mut self) -> Result<Option<StoredCertificate>, StoreError> {
        while self.page.is_empty() && !self.ended {
            let found = self.found().await;
            // After an error there is no more: the reader must not take the rest for the whole.
            self.ended = found.is_err();
            let Found { certificates, next } = found?;
            self.ended = next.is_none();
            self.after = next;
            self.page = certificates.into();
        }
        Ok(self.page.pop_front())
    }

    async fn found(&self) -> Result<Found, StoreError> {
        if self.search.is_empty() {
            return self.store.certificates_after(self.after, PAGE_LENGTH).await;
        }
        self.store.search_certificates(&self.search, self.after, PAGE_LENGTH, PATIENCE).await
    }
}

const PAGE_LENGTH: u32 = 256;
/// What others wait for a connection.
const PATIENCE: Duration = Duration::from_millis(500);
