//! What SQLite's index of trigrams is asked.

use super::Search;
use super::source::Texts;
use crate::certificate::text_filter::{Fragment, Needs, TextFilter};

macro_rules! of_texts {
    ($table:literal) => {
        among!(concat!(
            "SELECT rowid FROM ",
            $table,
            "
              WHERE ",
            $table,
            " MATCH $14 AND rowid > $1 AND rowid <= $2"
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
pub(super) fn expressions(search: &Search) -> Vec<(Texts, String)> {
    let filters = [
        (Texts::Subject, &search.subject_dn),
        (Texts::Subject, &search.common_name),
        (Texts::Names, &search.subject_alt_names),
        (Texts::Details, &search.extra_details),
    ];
    let filters = filters.into_iter().filter_map(|(texts, filter)| {
        let needs = filter.as_ref().map(TextFilter::needs)?;
        Some((texts, expression(needs)?))
    });
    filters.collect()
}

/// `None` where an alternative has no trigram.
fn expression(needs: &Needs) -> Option<String> {
    let alternatives = needs.alternatives().iter().map(|fragments| {
        let trigrams: Vec<_> = fragments.iter().flat_map(trigrams).take(MOST_TRIGRAMS).collect();
        (!trigrams.is_empty()).then(|| format!("({})", trigrams.join(" AND ")))
    });
    let alternatives: Vec<_> = alternatives.collect::<Option<_>>()?;
    (!alternatives.is_empty()).then(|| alternatives.join(" OR "))
}

/// Quoted trigrams that cover the fragment: side by side, and the last one. More of them would be
/// slower, and the row is looked at anyway.
fn trigrams(fragment: &Fragment) -> Vec<String> {
    let begin = if fragment.is_first { [BEGIN; 2].as_slice() } else { &[] };
    let characters: Vec<char> = begin.iter().copied().chain(fragment.text.chars()).collect();
    let usable: Vec<_> = characters
        .windows(3)
        .enumerate()
        .filter(|(_, window)| window.iter().all(|c| is_steady(*c)))
        .collect();
    let last = usable.last().map_or(0, |(at, _)| *at);
    let mut next = 0;
    let chosen = usable.into_iter().filter(|(at, _)| {
        let is_chosen = *at >= next || *at == last;
        if is_chosen {
            next = at + 3;
        }
        is_chosen
    });
    chosen
        .map(|(_, window)| format!("\"{}\"", String::from_iter(window).replace('"', "\"\"")))
        .collect()
}

/// Whether there is no doubt that index and filter agree on its lower case.
pub(super) fn is_steady(character: char) -> bool {
    character.is_ascii() || !(character.is_uppercase() || character.is_lowercase())
}

/// Stands twice before each text of the index.
const BEGIN: char = '\u{2}';
const MOST_TRIGRAMS: usize = 12;
