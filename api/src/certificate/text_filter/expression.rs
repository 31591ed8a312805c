//! Regular expressions, as old scripts write them.
//!
//! They run in linear time. What is escaped needlessly, as .NET's `Regex.Escape` does it, is
//! understood; groups that look ahead or back, and references to groups, are not.

use std::mem;

use regex::{Regex, RegexBuilder};
use regex_syntax::Error;
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::translate::TranslatorBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look};

use super::folding::is_soon_done;
use super::fragment::{Fragment, Needs, split_at_commas};

/// How a value is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    Literal,
    Expression,
    Either,
}

/// Nothing but an expression begins, ends or goes on like this.
pub(super) fn reading(value: &str) -> Reading {
    let backslashes = value.trim_end_matches('$').chars().rev().take_while(|c| *c == '\\').count();
    let is_ended = value.ends_with('$') && backslashes % 2 == 0;
    // The account of a Windows machine ends with the same character.
    let is_plain =
        value.trim_end_matches('$').chars().all(|c| c.is_alphanumeric() || "=-_ ,.".contains(c));
    let is_anchored = value.starts_with('^') || is_ended && !is_plain;
    let certain = [".*", ".+", "\\d", "\\w", "\\s", "\\S", "\\b", "[^", "[a-z", "[0-9"];
    let is_certain = certain.iter().any(|mark| value.contains(mark));
    // A backslash in a name is shown as two, and may stand before any letter.
    let has_backslash = value.contains("\\\\");
    if is_anchored || value.starts_with("(?") || is_certain && !has_backslash {
        return Reading::Expression;
    }
    let is_escaping = value.as_bytes().windows(2).any(|pair| match pair {
        [b'\\', escaped] => b" #.()*[]{}$|?^-/".contains(escaped),
        _ => false,
    });
    if is_escaping || is_ended || is_certain { Reading::Either } else { Reading::Literal }
}

/// Why an expression is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadExpression {
    /// It is none, or uses what is not understood here.
    #[error("is no regular expression that is understood: {reason} at character {position}")]
    Syntax {
        /// What is wrong.
        reason: String,
        /// Where, counted from 1.
        position: usize,
    },
    /// It would take too much memory or time.
    #[error(
        "is a regular expression that becomes too large; repeat less in it and have \
             fewer classes of letters within classes"
    )]
    TooLarge,
}

/// The expression, and what every text has that it matches.
pub(super) fn compile(value: &str) -> Result<(Regex, Needs), BadExpression> {
    let pattern = of_dot_net(value);
    let mut parser = ParserBuilder::new().nest_limit(NEST_LIMIT).build();
    let parsed = parser.parse(&pattern).map_err(|error| syntax(&error.into()))?;
    if !is_soon_done(&parsed) {
        return Err(BadExpression::TooLarge);
    }
    let mut translator = TranslatorBuilder::new().case_insensitive(true).build();
    let parsed = translator.translate(&pattern, &parsed).map_err(|error| syntax(&error.into()))?;
    let expression = RegexBuilder::new(&pattern)
        .case_insensitive(true)
        .nest_limit(NEST_LIMIT)
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .build()
        .map_err(|_| BadExpression::TooLarge)?;
    let mut reader = Reader::default();
    reader.read(&parsed);
    Ok((expression, Needs::all_of(reader.finish())))
}

/// Escapes that mean something else there.
fn of_dot_net(value: &str) -> String {
    let mut pattern = String::with_capacity(value.len());
    let mut characters = value.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            pattern.push(character);
            continue;
        }
        match characters.next() {
            Some('Z') => pattern.push_str("\\z"),
            Some(bracket @ ('<' | '>')) => pattern.push(bracket),
            escaped => {
                pattern.push('\\');
                pattern.extend(escaped);
            }
        }
    }
    pattern
}

fn syntax(error: &Error) -> BadExpression {
    let (reason, column) = match error {
        Error::Parse(error) => (error.kind().to_string(), error.span().start.column),
        Error::Translate(error) => (error.kind().to_string(), error.span().start.column),
        _ => (String::from("something"), 1),
    };
    BadExpression::Syntax { reason, position: column }
}

/// Collects the literal parts of an expression, each that must be there.
#[derive(Default)]
struct Reader {
    done: Vec<Fragment>,
    text: String,
    is_first: bool,
}

impl Reader {
    fn read(&mut self, part: &Hir) {
        match part.kind() {
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => self.text.push_str(&super::fold(text)),
                Err(_) => self.end(),
            },
            HirKind::Class(class) => match folded(class) {
                Some(letter) => self.text.push(letter),
                None => self.end(),
            },
            HirKind::Look(Look::Start) => self.is_first = self.is_at_start(),
            HirKind::Look(_) | HirKind::Empty => {}
            HirKind::Capture(group) => self.read(&group.sub),
            HirKind::Concat(parts) => parts.iter().for_each(|part| self.read(part)),
            HirKind::Repetition(repeated) => {
                self.end();
                if repeated.min > 0 {
                    self.read(&repeated.sub);
                    self.end();
                }
            }
            HirKind::Alternation(_) => self.end(),
        }
    }

    fn is_at_start(&self) -> bool {
        self.done.is_empty() && self.text.is_empty()
    }

    /// Whatever comes next does not follow at once.
    fn end(&mut self) {
        self.done.extend(split_at_commas(&mem::take(&mut self.text), self.is_first));
        self.is_first = false;
    }

    fn finish(mut self) -> Vec<Fragment> {
        self.end();
        self.done
    }
}

/// The one letter, in lower case, that a class has in all its cases.
fn folded(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else { return None };
    let mut letters = class.iter().flat_map(|range| range.start()..=range.end());
    let mut lower: Option<char> = None;
    for letter in letters.by_ref().take(MOST_CASES) {
        // Kelvin sign and long s, which no one writes.
        let letter = match letter {
            '\u{212a}' => 'k',
            '\u{17f}' => 's',
            other => other.to_ascii_lowercase(),
        };
        if *lower.get_or_insert(letter) != letter {
            return None;
        }
    }
    lower.filter(|_| letters.next().is_none())
}

const MOST_CASES: usize = 4;
/// A compiled expression is no larger, nor is what its matching keeps.
const SIZE_LIMIT: usize = 256 * 1024;
const NEST_LIMIT: u32 = 32;
