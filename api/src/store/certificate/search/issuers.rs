//! Issuers are few, and each has one name: those that match are looked up first.

use super::super::TABLE;
use super::Reading;
use crate::certificate::text_filter::TextFilter;
use crate::store::StoreError;

statements! {
    /// As many steps as there are issuers, however many certificates each has.
    ISSUERS = "
        WITH RECURSIVE issuer (k) AS (
            SELECT (SELECT issuer_dn_key FROM certificate ORDER BY issuer_dn_key LIMIT 1)
             UNION ALL
            SELECT (SELECT issuer_dn_key FROM certificate WHERE issuer_dn_key > issuer.k
                     ORDER BY issuer_dn_key LIMIT 1)
              FROM issuer WHERE issuer.k IS NOT NULL)
        SELECT k, (SELECT issuer_dn FROM certificate WHERE issuer_dn_key = k
                    ORDER BY record_no LIMIT 1)
          FROM issuer WHERE k IS NOT NULL
         LIMIT $1";
}

/// Which issuers match.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::store) enum Matching {
    None,
    /// By their keys; each stands for one name.
    These(Vec<String>),
    /// All, or too many to go by; rows are looked at.
    Many,
}

pub(in crate::store) async fn matching(
    filter: &TextFilter,
    reading: &mut Reading,
) -> Result<Matching, StoreError> {
    let all: Vec<(String, String)> = sqlx::query_as(ISSUERS)
        .bind(MOST_READ)
        .fetch_all(&mut *reading.transaction)
        .await
        .map_err(StoreError::of(TABLE))?;
    let count = all.len();
    let names = all.into_iter().filter(|(_, name)| filter.matches_dn(name));
    let keys: Vec<_> = names.map(|(key, _)| key).collect();
    Ok(match keys.len() {
        _ if count >= usize::try_from(MOST_READ).unwrap_or_default() => Matching::Many,
        0 => Matching::None,
        matching if matching == count || matching > MOST_KEYS => Matching::Many,
        _ => Matching::These(keys),
    })
}

/// Where imports bring more names, rows are looked at.
const MOST_READ: i64 = 1000;
const MOST_KEYS: usize = 32;
