//! Reading all certificates, page by page: constant memory and flat cost for any number of rows.

use std::collections::{HashMap, VecDeque};

use chancery_shared::id::CertificateId;
use futures::stream::{self, Stream, StreamExt as _};

use super::read::{HistoryRow, Row};
use super::{HISTORY, HistoryEntry, StoredCertificate, TABLE};
use crate::store::{Store, StoreError};

statements! {
    /// Ids sort by time, so this is the order of recording, to the second.
    PAGE = select!(certificate "WHERE certificate.certificate_id > $1
         ORDER BY certificate.certificate_id
         LIMIT $2");
    HISTORY_OF_PAGE = select!(history "WHERE certificate_id > $1 AND certificate_id <= $2
         ORDER BY certificate_id, happened_at, history_id");
}

impl Store {
    /// At most `limit` certificates above the id `after`, by id.
    ///
    /// # Errors
    ///
    /// Only if the database fails.
    pub async fn certificates_after(
        &self,
        after: Option<CertificateId>,
        limit: u32,
    ) -> Result<Vec<StoredCertificate>, StoreError> {
        // Every id sorts after the empty text.
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let rows: Vec<Row> = sqlx::query_as(PAGE)
            .bind(&after)
            .bind(i64::from(limit))
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(TABLE))?;
        let mut page =
            rows.into_iter().map(StoredCertificate::try_from).collect::<Result<Vec<_>, _>>()?;
        let Some(last) = page.last().map(|found| found.certificate.id) else { return Ok(page) };
        let mut histories = self.histories(&after, last).await?;
        for found in &mut page {
            let id = found.certificate.id.to_string();
            found.history = histories.remove(&id).unwrap_or_default();
        }
        Ok(page)
    }

    /// All certificates by id, above `after` if given. No connection is held between pages, so a
    /// slow reader costs nothing; what is recorded meanwhile may appear or not.
    pub fn certificates(
        &self,
        after: Option<CertificateId>,
    ) -> impl Stream<Item = Result<StoredCertificate, StoreError>> + Send + use<> {
        let start = Position { store: self.clone(), after, page: VecDeque::new(), ended: false };
        stream::unfold(start, |mut at| async move {
            let item = at.next().await.transpose()?;
            Some((item, at))
        })
        .boxed()
    }

    async fn histories(
        &self,
        after: &str,
        last: CertificateId,
    ) -> Result<HashMap<String, Vec<HistoryEntry>>, StoreError> {
        let rows: Vec<HistoryRow> = sqlx::query_as(HISTORY_OF_PAGE)
            .bind(after)
            .bind(last.to_string())
            .fetch_all(self.pool())
            .await
            .map_err(StoreError::of(HISTORY))?;
        let mut histories: HashMap<String, Vec<HistoryEntry>> = HashMap::new();
        for row in rows {
            let id = row.certificate_id.clone();
            histories.entry(id).or_default().push(row.entry()?);
        }
        Ok(histories)
    }
}

/// Where a reader of all certificates stands.
struct Position {
    store: Store,
    after: Option<CertificateId>,
    page: VecDeque<StoredCertificate>,
    ended: bool,
}

impl Position {
    async fn next(&mut self) -> Result<Option<StoredCertificate>, StoreError> {
        if self.page.is_empty() && !self.ended {
            let page = self.store.certificates_after(self.after, PAGE_LENGTH).await;
            // After an error there is no more: the reader must not take the rest for the whole.
            self.ended = page.is_err();
            let page = page?;
            self.ended = page.len() < PAGE_LENGTH as usize;
            self.after = page.last().map(|found| found.certificate.id).or(self.after);
            self.page = page.into();
        }
        Ok(self.page.pop_front())
    }
}

const PAGE_LENGTH: u32 = 256;
