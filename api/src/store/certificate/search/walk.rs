//! The way of one search through its candidates.

use std::time::Duration;

use tokio::time::Instant;

use super::super::TABLE;
use super::super::page::load;
use super::source::{self, Candidate, Exact, Kind, Source};
use super::{Found, Reading, RecordNo, Search, postgres_text};
use crate::store::StoreError;
use crate::store::engine::EngineName;

statements! {
    NEWEST = "SELECT COALESCE(MAX(record_no), 0) FROM certificate";
}

pub(super) async fn run(
    reading: &mut Reading,
    search: &Search,
    after: i64,
    limit: u32,
    patience: Duration,
) -> Result<Found, StoreError> {
    let until = Instant::now() + patience;
    let Some(sources) = source::all_of(search, reading, after).await? else {
        return Ok(Found::default());
    };
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let indexed = match reading.engine {
        EngineName::Sqlite => super::index::indexed_up_to(reading).await?,
        EngineName::Postgres => 0,
    };
    let mut walk = Walk {
        search,
        exact: Exact::of(search),
        sources,
        indexed,
        newest: scalar(reading, NEWEST).await?,
        at: after,
        numbers: Vec::new(),
        seen: Vec::new(),
        read: 0,
        wanted: limit.saturating_add(1),
    };
    let mut batch = walk.first_batch();
    let mut may_list = reading.engine == EngineName::Postgres && search.has_text();
    loop {
        if !walk.step(reading, batch, until).await? || walk.numbers.len() >= walk.wanted {
            break;
        }
        if Instant::now() >= until {
            return walk.page(reading, limit, true).await;
        }
        if may_list && walk.finds_little() {
            may_list = false;
            let missing = walk.wanted - walk.numbers.len();
            if let Some(texts) = postgres_text::question(search, &walk.seen)
                && walk.step_by_list(reading, &texts, missing, until).await?
            {
                break;
            }
            if Instant::now() >= until {
                return walk.page(reading, limit, true).await;
            }
        }
        batch = (batch * 2).min(if search.has_text() { MOST_TEXTS } else { MOST_ROWS });
    }
    walk.page(reading, limit, false).await
}

pub(super) async fn scalar(reading: &mut Reading, sql: &'static str) -> Result<i64, StoreError> {
    let read = sqlx::query_scalar(sql).fetch_one(&mut *reading.transaction).await;
    read.map_err(StoreError::of(TABLE))
}

struct Walk<'a> {
    search: &'a Search,
    exact: Exact,
    sources: Vec<Source>,
    /// The index of texts ends here.
    indexed: i64,
    newest: i64,
    /// All up to here is looked at.
    at: i64,
    numbers: Vec<i64>,
    /// The first rows, as examples.
    seen: Vec<Candidate>,
    /// So many rows passed the exact filters.
    read: usize,
    /// One more than the page has, which tells whether there is another page.
    wanted: usize,
}

impl Walk<'_> {
    fn first_batch(&self) -> i64 {
        i64::try_from(self.wanted).unwrap_or(MOST_ROWS).clamp(128, 512) * 2
    }

    /// Looks at one batch; `false` where it was the last.
    async fn step(
        &mut self,
        reading: &mut Reading,
        batch: i64,
        until: Instant,
    ) -> Result<bool, StoreError> {
        let all = Source { kind: Kind::All, parts: Vec::new() };
        let (mut best, mut reach) = (&all, None);
        for source in &self.sources {
            let is_text = matches!(source.kind, Kind::Text(_) | Kind::Numbers);
            if is_text && self.at >= self.indexed {
                continue;
            }
            let mut found = source.reach(reading, &self.exact, self.at, batch).await?;
            if is_text {
                found = found.min(self.indexed);
            }
            if reach.is_none_or(|reach| found > reach) {
                (best, reach) = (source, Some(found));
            }
            if found == i64::MAX {
                break;
            }
        }
        let reach = reach.unwrap_or_else(|| match self.at.max(0).saturating_add(batch) {
            end if end >= self.newest => i64::MAX,
            end => end,
        });
        let limit = self.rows_at_once();
        let rows = best.candidates(reading, &self.exact, self.at, reach, limit).await?;
        // Where rows were left out, the next batch begins with them.
        let end = match rows.last() {
            Some(last) if rows.len() == limit => last.record_no,
            _ => reach,
        };
        self.keep(rows, end, until).await;
        Ok(self.at != i64::MAX)
    }

    /// Goes on with what the index of texts names, in one step; `true` where that was all.
    async fn step_by_list(
        &mut self,
        reading: &mut Reading,
        texts: &postgres_text::Texts,
        missing: usize,
        until: Instant,
    ) -> Result<bool, StoreError> {
        let list = texts.list(reading, self.at).await?;
        let mut missing = missing;
        for some in list.numbers.chunks(postgres_text::AT_ONCE) {
            let Some(end) = some.last() else { break };
            let rows = postgres_text::rows(reading, &self.exact, some, self.at, *end).await?;
            let before = self.numbers.len();
            if !self.keep(rows, *end, until).await {
                return Ok(false);
            }
            missing = missing.saturating_sub(self.numbers.len() - before);
            if missing == 0 {
                return Ok(true);
            }
        }
        Ok(list.is_whole)
    }

    /// Looks at the rows of a batch, which ends at `end`; `false` where time was over before that.
    /// An expression may take long over each, and others wait for this thread.
    async fn keep(&mut self, rows: Vec<Candidate>, end: i64, until: Instant) -> bool {
        let mut began = Instant::now();
        for row in rows {
            self.read += 1;
            self.at = row.record_no;
            if self.search.matches(&row) {
                self.numbers.push(row.record_no);
            }
            if self.seen.len() < EXAMPLES {
                self.seen.push(row);
            }
            if began.elapsed() >= TURN {
                tokio::task::yield_now().await;
                began = Instant::now();
                if began >= until {
                    return false;
                }
            }
        }
        self.at = end;
        true
    }

    /// Whether so many rows more would have to be read that an index is better asked, which has all
    /// to tell or nothing.
    fn finds_little(&self) -> bool {
        self.seen.len() >= EXAMPLES && self.numbers.len().saturating_mul(RARE) < self.read
    }

    /// More would be read in vain where every row counts.
    fn rows_at_once(&self) -> usize {
        if self.search.has_text() {
            usize::try_from(MOST_ROWS).unwrap_or(usize::MAX)
        } else {
            self.wanted.saturating_sub(self.numbers.len()).max(1)
        }
    }

    async fn page(
        mut self,
        reading: &mut Reading,
        limit: usize,
        is_cut_short: bool,
    ) -> Result<Found, StoreError> {
        let has_more = self.numbers.len() > limit;
        self.numbers.truncate(limit);
        let next = match (has_more, self.numbers.last()) {
            (true, Some(last)) => Some(RecordNo(*last)),
            _ => is_cut_short.then_some(RecordNo(self.at)),
        };
        let certificates = load(&mut reading.transaction, &self.numbers).await?;
        Ok(Found { certificates, next })
    }
}

impl Search {
    fn has_text(&self) -> bool {
        let texts = [&self.subject_dn, &self.issuer_dn, &self.common_name];
        let more = [&self.subject_alt_names, &self.extra_details];
        texts.into_iter().chain(more).any(Option::is_some)
    }

    /// Whether the filters that no SQL decides hold too.
    fn matches(&self, row: &Candidate) -> bool {
        self.subject_dn.as_ref().is_none_or(|filter| filter.matches_dn(&row.subject_dn))
            && self.issuer_dn.as_ref().is_none_or(|filter| filter.matches_dn(&row.issuer_dn))
            && self.common_name.as_ref().is_none_or(|f| f.matches_text(&row.common_name))
            && self
                .subject_alt_names
                .as_ref()
                .is_none_or(|filter| filter.matches_names(row.subject_alt_names.lines()))
            && self.extra_details.as_ref().is_none_or(|filter| {
                row.extra_details.as_deref().is_some_and(|text| filter.matches_text(text))
            })
    }
}

/// Where fewer than one in so many rows match, PostgreSQL's index of texts is asked.
const RARE: usize = 64;
/// So long one search keeps a thread to itself.
const TURN: Duration = Duration::from_millis(2);
/// So many rows say what most are like.
const EXAMPLES: usize = 128;
/// Candidates in one batch, at most.
const MOST_ROWS: i64 = 8192;
const MOST_TEXTS: i64 = 1024;
