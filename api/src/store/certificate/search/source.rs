//! Where the candidates of a search come from.

use sqlx::Any;
use sqlx::any::AnyArguments;
use sqlx::query::QueryAs;

use super::super::TABLE;
use super::statements::{of, reach_of};
use super::{Reading, Search, Span, States, issuers, sqlite_numbers, sqlite_text};
use crate::store::StoreError;
use crate::store::engine::EngineName;

/// What a source goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    All,
    Team,
    Owner,
    CertIssuer,
    Issuer,
    /// On PostgreSQL alone.
    SerialNumber,
    /// On PostgreSQL alone.
    Thumbprint,
    /// Serial numbers and thumbprints in SQLite's index of texts.
    Numbers,
    Cas,
    End,
    Begin,
    /// SQLite's index of texts.
    Text(Texts),
}

/// The texts that SQLite has an index of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texts {
    Subject,
    Names,
    Details,
}

/// Candidates in the order of recording, of which every wanted certificate is one: those of each
/// part together.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) kind: Kind,
    /// What each part goes by, and its value; of those that go by moments, nothing.
    pub(super) parts: Vec<(Kind, String)>,
}

/// What every statement that reads candidates is told of the search.
#[derive(Clone, Debug)]
pub(super) struct Exact {
    team: String,
    owner: String,
    cert_issuers: String,
    thumbprint: String,
    serial_number: String,
    not_before: Span,
    not_after: Span,
    states: States,
    viewer: String,
    teams_of_viewer: String,
}

/// A candidate that passed the exact filters.
#[derive(Debug, sqlx::FromRow)]
pub(super) struct Candidate {
    pub(super) record_no: i64,
    pub(super) subject_dn: String,
    pub(super) common_name: String,
    pub(super) issuer_dn: String,
    pub(super) subject_alt_names: String,
    pub(super) extra_details: Option<String>,
}

/// All sources of a search that does not want everything. `None`: nothing can be found.
pub(super) async fn all_of(
    search: &Search,
    reading: &mut Reading,
    after: i64,
) -> Result<Option<Vec<Source>>, StoreError> {
    let mut sources = Vec::new();
    if let Some(viewer) = &search.viewer {
        let teams = viewer.team_ids.iter().map(|id| (Kind::Team, id.to_string()));
        let parts = [(Kind::Owner, viewer.user_id.to_string()), (Kind::Cas, "CA".to_owned())];
        sources.push(Source { kind: Kind::Owner, parts: parts.into_iter().chain(teams).collect() });
    }
    let mut add = |kind, values: Vec<String>| {
        let parts = values.into_iter().map(|value| (kind, value)).collect();
        sources.push(Source { kind, parts });
    };
    if let Some(team) = search.team_id {
        add(Kind::Team, vec![team.to_string()]);
    }
    if let Some(owner) = search.owner_user_id {
        add(Kind::Owner, vec![owner.to_string()]);
    }
    if let Some(ids) = &search.cert_issuer_ids {
        add(Kind::CertIssuer, ids.iter().map(ToString::to_string).collect());
    }
    if search.not_after != Span::default() || search.states != States::ALL {
        add(Kind::End, Vec::new());
    }
    if search.not_before != Span::default() {
        add(Kind::Begin, Vec::new());
    }
    match reading.engine {
        EngineName::Sqlite => {
            let words = [
                search.serial_number.as_deref().map(sqlite_numbers::of_serial_number),
                search.thumbprint.as_deref().map(sqlite_numbers::of_thumbprint),
            ];
            for word in words.into_iter().flatten() {
                add(Kind::Numbers, vec![word]);
            }
            for (texts, expression) in sqlite_text::expressions(search, reading, after).await? {
                add(Kind::Text(texts), vec![expression]);
            }
        }
        EngineName::Postgres => {
            if let Some(number) = &search.serial_number {
                add(Kind::SerialNumber, vec![number.clone()]);
            }
            if let Some(thumbprint) = &search.thumbprint {
                add(Kind::Thumbprint, vec![thumbprint.clone()]);
            }
        }
    }
    if let Some(filter) = &search.issuer_dn {
        match issuers::matching(filter, reading).await? {
            issuers::Matching::None => return Ok(None),
            issuers::Matching::These(keys) => add(Kind::Issuer, keys),
            issuers::Matching::Many => {}
        }
    }
    Ok(Some(sources))
}

impl Source {
    /// Up to which record there are so many candidates after `after`, about; `i64::MAX` where
    /// there are not so many.
    pub(super) async fn reach(
        &self,
        reading: &mut Reading,
        exact: &Exact,
        after: i64,
        count: i64,
    ) -> Result<i64, StoreError> {
        let Some(sql) = reach_of(self.kind) else { return Ok(i64::MAX) };
        let query = sqlx::query_scalar::<_, i64>(sql);
        let each = (count / 8).max(1);
        let Exact { not_before, not_after, states, .. } = exact;
        let query = match self.kind {
            Kind::End => query
                .bind(states.0)
                .bind(after)
                .bind(each)
                .bind(end_shelf(not_after.from, 0))
                .bind(end_shelf(not_after.to, 3))
                .bind(not_after.from)
                .bind(not_after.to),
            Kind::Begin => query
                .bind(after)
                .bind(each)
                .bind(not_before.from / SHELF)
                .bind(not_before.to / SHELF)
                .bind(not_before.from)
                .bind(not_before.to),
            _ => {
                let mut reach = i64::MAX;
                for (kind, value) in &self.parts {
                    let Some(sql) = reach_of(*kind) else { continue };
                    let query = sqlx::query_scalar(sql).bind(value).bind(after).bind(count);
                    let found: i64 = query
                        .fetch_one(&mut *reading.transaction)
                        .await
                        .map_err(StoreError::of(TABLE))?;
                    reach = reach.min(found);
                }
                return Ok(reach);
            }
        };
        query.fetch_one(&mut *reading.transaction).await.map_err(StoreError::of(TABLE))
    }

    /// The first `limit` candidates after `after`, up to `up_to`, that all exact filters hold for.
    pub(super) async fn candidates(
        &self,
        reading: &mut Reading,
        exact: &Exact,
        after: i64,
        up_to: i64,
        limit: usize,
    ) -> Result<Vec<Candidate>, StoreError> {
        let query_of = |kind| exact.bind(sqlx::query_as(of(kind)), after, up_to, limit);
        let query = || query_of(self.kind);
        let moments = match self.kind {
            Kind::All => Some(query()),
            Kind::End => Some(
                query()
                    .bind(end_shelf(exact.not_after.from, 0))
                    .bind(end_shelf(exact.not_after.to, 3)),
            ),
            Kind::Begin => {
                Some(query().bind(exact.not_before.from / SHELF).bind(exact.not_before.to / SHELF))
            }
            _ => None,
        };
        let parts = self.parts.iter().map(|(kind, value)| query_of(*kind).bind(value));
        let queries: Vec<_> = moments.into_iter().chain(parts).collect();
        let mut found: Vec<Candidate> = Vec::new();
        for query in queries {
            let part = query.fetch_all(&mut *reading.transaction).await;
            found.extend(part.map_err(StoreError::of(TABLE))?);
        }
        found.sort_by_key(|candidate| candidate.record_no);
        // What is both one's own and one's team's.
        found.dedup_by_key(|candidate| candidate.record_no);
        found.truncate(limit);
        Ok(found)
    }
}

type Candidates<'q> = QueryAs<'q, Any, Candidate, AnyArguments>;

impl Exact {
    pub(super) fn of(search: &Search) -> Self {
        let ids = search.cert_issuer_ids.iter().flatten().map(ToString::to_string);
        let teams = search.viewer.iter().flat_map(|it| &it.team_ids).map(ToString::to_string);
        Self {
            team: search.team_id.map(|id| id.to_string()).unwrap_or_default(),
            owner: search.owner_user_id.map(|id| id.to_string()).unwrap_or_default(),
            cert_issuers: ids.collect::<Vec<_>>().join(","),
            thumbprint: search.thumbprint.clone().unwrap_or_default(),
            serial_number: search.serial_number.clone().unwrap_or_default(),
            not_before: search.not_before,
            not_after: search.not_after,
            states: search.states,
            viewer: search.viewer.as_ref().map(|it| it.user_id.to_string()).unwrap_or_default(),
            teams_of_viewer: teams.collect::<Vec<_>>().join(","),
        }
    }

    /// The fifteen parameters that all of them have.
    pub(super) fn bind<'q>(
        &'q self,
        query: Candidates<'q>,
        after: i64,
        up_to: i64,
        limit: usize,
    ) -> Candidates<'q> {
        query
            .bind(after)
            .bind(up_to)
            .bind(i64::try_from(limit).unwrap_or(i64::MAX))
            .bind(&self.team)
            .bind(&self.owner)
            .bind(&self.cert_issuers)
            .bind(&self.thumbprint)
            .bind(&self.serial_number)
            .bind(self.not_before.from)
            .bind(self.not_before.to)
            .bind(self.not_after.from)
            .bind(self.not_after.to)
            .bind(self.states.0)
            .bind(&self.viewer)
            .bind(&self.teams_of_viewer)
    }
}

/// The shelf of this moment, as the index has it, in the lowest or highest state.
fn end_shelf(moment: i64, state: i64) -> i64 {
    (moment / SHELF).saturating_mul(4).saturating_add(state)
}

/// 30 days.
const SHELF: i64 = 2_592_000_000;
