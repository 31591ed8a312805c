//! What PostgreSQL's index of trigrams is asked. It can't tell in the order of recording, and so
//! never a part: it is asked where the rows as they come have too little of what is wanted.

use super::super::TABLE;
use super::source::{Candidate, Exact};
use super::sqlite_text::is_steady;
use super::{Reading, Search};
use crate::certificate::text_filter::{Fragment, Needs, TextFilter};
use crate::store::StoreError;

macro_rules! list_of {
    ($column:literal, $is_like:literal) => {
        concat!(
            "WITH found AS MATERIALIZED (
                 SELECT record_no FROM certificate WHERE ",
            $column,
            " ",
            $is_like,
            " $1)
             SELECT record_no FROM found WHERE record_no > $2 ORDER BY record_no LIMIT $3"
        )
    };
}

statements! {
    LIKE_SUBJECT = list_of!("subject_dn", "ILIKE");
    LIKE_NAMES = list_of!("subject_alt_names", "ILIKE");
    LIKE_DETAILS = list_of!("extra_details", "ILIKE");
    EITHER_SUBJECT = list_of!("subject_dn", "~*");
    EITHER_NAMES = list_of!("subject_alt_names", "~*");
    EITHER_DETAILS = list_of!("extra_details", "~*");
    ROWS = among!("SELECT CAST(n AS BIGINT) FROM unnest(string_to_array($16, ',')) AS n
                    WHERE CAST(n AS BIGINT) > $1 AND CAST(n AS BIGINT) <= $2");
}

/// A question to the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Texts {
    sql: &'static str,
    pattern: String,
}

/// The best question for a search, if there is one, where its first rows look like these.
pub(super) fn question(search: &Search, rows: &[Candidate]) -> Option<Texts> {
    let filters: [(_, _, _, Column); 4] = [
        (LIKE_SUBJECT, EITHER_SUBJECT, &search.subject_dn, |row| Some(&row.subject_dn)),
        (LIKE_SUBJECT, EITHER_SUBJECT, &search.common_name, |row| Some(&row.subject_dn)),
        (LIKE_NAMES, EITHER_NAMES, &search.subject_alt_names, |row| Some(&row.subject_alt_names)),
        (LIKE_DETAILS, EITHER_DETAILS, &search.extra_details, |row| row.extra_details.as_ref()),
    ];
    let (mut whole, mut rare): (Option<Texts>, Option<Texts>) = (None, None);
    for (like, either, filter, column) in filters {
        let Some(needs) = filter.as_ref().map(TextFilter::needs) else { continue };
        let question = match needs.alternatives() {
            [fragments] => {
                if let Some(word) = rare_word(fragments, rows, column) {
                    keep_longer(&mut rare, Texts { sql: like, pattern: format!("%{word}%") });
                }
                like_pattern(fragments).map(|pattern| Texts { sql: like, pattern })
            }
            _ => expression(needs).map(|pattern| Texts { sql: either, pattern }),
        };
        if let Some(question) = question {
            keep_longer(&mut whole, question);
        }
    }
    rare.or(whole)
}

/// A text of a row.
type Column = fn(&Candidate) -> Option<&String>;

fn keep_longer(kept: &mut Option<Texts>, other: Texts) {
    if kept.as_ref().is_none_or(|kept| kept.pattern.len() < other.pattern.len()) {
        *kept = Some(other);
    }
}

/// The longest word that none of the rows has: it alone leaves few, and each further word would be
/// some more lists of the index to read through.
fn rare_word(fragments: &[Fragment], rows: &[Candidate], column: Column) -> Option<String> {
    let texts: Vec<_> =
        rows.iter().filter_map(column).map(|text| text.to_ascii_lowercase()).collect();
    let words = fragments.iter().flat_map(|fragment| {
        fragment.text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() >= 3)
    });
    let rare = words.filter(|word| !texts.iter().any(|text| text.contains(word)));
    let longest = rare.max_by_key(|word| word.len())?;
    Some(longest.chars().take(LONG_ENOUGH).collect())
}

/// Records by number.
pub(super) struct List {
    pub(super) numbers: Vec<i64>,
    pub(super) is_whole: bool,
}

impl Texts {
    pub(super) async fn list(&self, reading: &mut Reading, after: i64) -> Result<List, StoreError> {
        reading.say(BEFORE_LIST).await?;
        let listed: Result<Vec<i64>, _> = sqlx::query_scalar(self.sql)
            .bind(&self.pattern)
            .bind(after)
            .bind(MOST_LISTED)
            .fetch_all(&mut *reading.transaction)
            .await;
        let numbers = match listed.map_err(StoreError::of(TABLE)) {
            Ok(numbers) => numbers,
            // It would name too many: rows are looked at instead.
            Err(StoreError::Unavailable { .. }) => {
                reading.say(AFTER_LIST).await?;
                return Ok(List { numbers: Vec::new(), is_whole: false });
            }
            Err(error) => return Err(error),
        };
        reading.say(AFTER_LIST).await?;
        let is_whole = i64::try_from(numbers.len()).is_ok_and(|count| count < MOST_LISTED);
        Ok(List { numbers, is_whole })
    }
}

/// Those of the numbered rows that all exact filters hold for.
pub(super) async fn rows(
    reading: &mut Reading,
    exact: &Exact,
    numbers: &[i64],
    after: i64,
    up_to: i64,
) -> Result<Vec<Candidate>, StoreError> {
    let list = numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let query = exact.bind(sqlx::query_as(ROWS), after, up_to, numbers.len()).bind(list);
    query.fetch_all(&mut *reading.transaction).await.map_err(StoreError::of(TABLE))
}

/// For `ILIKE`; `None` where it has no trigram.
fn like_pattern(fragments: &[Fragment]) -> Option<String> {
    let mut pattern = String::new();
    for fragment in fragments {
        if !fragment.is_first {
            pattern.push('%');
        }
        for character in fragment.text.chars() {
            match character {
                '%' | '_' | '\\' => pattern.extend(['\\', character]),
                steady if is_steady(steady) => pattern.push(steady),
                _ => pattern.push('%'),
            }
        }
    }
    pattern.push('%');
    fragments.iter().any(has_trigram).then_some(pattern)
}

/// For `~*`; `None` where an alternative has no trigram.
fn expression(needs: &Needs) -> Option<String> {
    let alternatives = needs.alternatives().iter().map(|fragments| {
        let parts = fragments.iter().map(|fragment| {
            // A name is one of several lines.
            let begin = if fragment.is_first { "(^|\n)" } else { "" };
            let text: String = fragment.text.chars().map(quoted).collect();
            format!("{begin}{text}")
        });
        let is_usable = fragments.iter().any(has_trigram);
        is_usable.then(|| parts.collect::<Vec<_>>().join(".*"))
    });
    let alternatives = alternatives.collect::<Option<Vec<_>>>()?;
    (!alternatives.is_empty()).then(|| alternatives.join("|"))
}

fn quoted(character: char) -> String {
    match character {
        letter if letter.is_ascii_alphanumeric() => letter.to_string(),
        steady if steady.is_ascii() => format!("\\{steady}"),
        steady if is_steady(steady) => steady.to_string(),
        _ => String::from("."),
    }
}

/// Trigrams are made of letters and digits alone, and a word has some more at its begin.
fn has_trigram(fragment: &Fragment) -> bool {
    let text = fragment.text.as_str();
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.next().is_some_and(|word| word.len() >= if fragment.is_first { 1 } else { 3 })
        || words.any(|word| !word.is_empty())
}

/// The time within which a list is worth it.
const BEFORE_LIST: &str = "SAVEPOINT list; SET LOCAL statement_timeout = 500;";
/// What was set goes with the savepoint.
const AFTER_LIST: &str = "ROLLBACK TO SAVEPOINT list;";
/// More of a rare word says no more.
const LONG_ENOUGH: usize = 8;
const MOST_LISTED: i64 = 5000;
/// So many of the listed rows are read at once.
pub(super) const AT_ONCE: usize = 256;
