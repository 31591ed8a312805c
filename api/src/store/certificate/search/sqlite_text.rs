//! What SQLite's index of trigrams is asked.

use std::collections::BTreeSet;

use super::super::TABLE;
use super::source::Texts;
use super::{Reading, Search};
use crate::certificate::text_filter::{Fragment, TextFilter};
use crate::store::StoreError;

macro_rules! of_texts {
    ($table:literal) => {
        among!(concat!(
            "SELECT rowid FROM ",
            $table,
            "
              WHERE ",
            $table,
            " MATCH $16 AND rowid > $1 AND rowid <= $2"
        ))
    };
}

macro_rules! reach_of_texts {
    ($table:literal) => {
        reach!(concat!(
            "SELECT rowid AS record_no FROM ",
            $table,
            "
              WHERE ",
            $table,
            " MATCH $1 AND rowid > $2 ORDER BY rowid"
        ))
    };
}

statements! {
    OF_SUBJECT = of_texts!("certificate_text_subject");
    OF_NAMES = of_texts!("certificate_text_names");
    OF_DETAILS = of_texts!("certificate_text_details");
    REACH_OF_SUBJECT = reach_of_texts!("certificate_text_subject");
    REACH_OF_NAMES = reach_of_texts!("certificate_text_names");
    REACH_OF_DETAILS = reach_of_texts!("certificate_text_details");
}

pub(super) fn of(texts: Texts) -> &'static str {
    match texts {
        Texts::Subject => OF_SUBJECT,
        Texts::Names => OF_NAMES,
        Texts::Details => OF_DETAILS,
    }
}

pub(super) fn reach_of(texts: Texts) -> &'static str {
    match texts {
        Texts::Subject => REACH_OF_SUBJECT,
        Texts::Names => REACH_OF_NAMES,
        Texts::Details => REACH_OF_DETAILS,
    }
}

/// The expressions for `MATCH`, of the filters that have one.
pub(super) async fn expressions(
    search: &Search,
    reading: &mut Reading,
    after: i64,
) -> Result<Vec<(Texts, String)>, StoreError> {
    let filters = [
        (Texts::Subject, &search.subject_dn),
        (Texts::Subject, &search.common_name),
        (Texts::Names, &search.subject_alt_names),
        (Texts::Details, &search.extra_details),
    ];
    let mut expressions = Vec::new();
    for (texts, filter) in filters {
        let Some(needs) = filter.as_ref().map(TextFilter::needs) else { continue };
        let alternatives: Vec<_> = needs.alternatives().iter().map(|all| trigrams(all)).collect();
        // Without a trigram an alternative can be anywhere.
        if alternatives.is_empty() || alternatives.iter().any(BTreeSet::is_empty) {
            continue;
        }
        let mut chosen = Vec::new();
        for trigrams in alternatives {
            let rarest = rarest(texts, trigrams, reading, after).await?;
            chosen.push(format!("({})", rarest.join(" AND ")));
        }
        expressions.push((texts, chosen.join(" OR ")));
    }
    Ok(expressions)
}

/// The few that say the most: each more would be a list to read through, and the row is looked at
/// anyway.
async fn rarest(
    texts: Texts,
    trigrams: BTreeSet<String>,
    reading: &mut Reading,
    after: i64,
) -> Result<Vec<String>, StoreError> {
    let mut by_reach = Vec::new();
    for trigram in trigrams {
        let reach: i64 = sqlx::query_scalar(reach_of(texts))
            .bind(trigram.clone())
            .bind(after)
            .bind(FEW)
            .fetch_one(&mut *reading.transaction)
            .await
            .map_err(StoreError::of(TABLE))?;
        if reach == i64::MAX {
            return Ok(vec![trigram]);
        }
        by_reach.push((reach, trigram));
    }
    by_reach.sort_unstable_by(|one, other| other.cmp(one));
    by_reach.truncate(MOST_TRIGRAMS);
    Ok(by_reach.into_iter().map(|(_, trigram)| trigram).collect())
}

/// The trigrams of all fragments, quoted.
fn trigrams(fragments: &[Fragment]) -> BTreeSet<String> {
    let of_one = |fragment: &Fragment| {
        let begin = if fragment.is_first { [BEGIN; 2].as_slice() } else { &[] };
        let characters: Vec<char> = begin.iter().copied().chain(fragment.text.chars()).collect();
        let steady = characters.windows(3).filter(|window| window.iter().all(|c| is_steady(*c)));
        steady.map(|window| quoted(&String::from_iter(window))).collect::<Vec<_>>()
    };
    fragments.iter().flat_map(of_one).take(MOST_TRIED).collect()
}

/// A string of FTS5's query language.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

/// Whether there is no doubt that index and filter agree on its lower case.
pub(super) fn is_steady(character: char) -> bool {
    // FTS5 takes a trigram as a C string, and PostgreSQL has no NUL in a text.
    let has_one_case = || !(character.is_uppercase() || character.is_lowercase());
    character != '\0' && (character.is_ascii() || has_one_case())
}

/// Stands twice before each text of the index.
const BEGIN: char = '\u{2}';
/// So many are asked how rare they are.
const MOST_TRIED: usize = 48;
/// So many are looked for together.
const MOST_TRIGRAMS: usize = 3;
/// A trigram that is in fewer of the texts ahead is looked for alone.
const FEW: i64 = 256;
