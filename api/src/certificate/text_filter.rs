//! What a search asks of a text, and what an index can tell of it beforehand.

mod expression;
mod folding;
mod fragment;

use regex::Regex;

pub use expression::BadExpression;
pub use fragment::{Fragment, Needs};

/// Asks whether a text contains a value, whatever the case of either. A value of one or two
/// characters must be what the text begins with: that is all an index can tell of it.
#[derive(Clone, Debug)]
pub struct TextFilter {
    literal: Option<Literal>,
    expression: Option<Regex>,
    needs: Needs,
}

/// Which text is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// A distinguished name, with or without a blank behind its commas.
    DistinguishedName,
    /// The common name, which the index has as a part of the subject.
    CommonName,
    /// `TYPE:value`, one a line.
    AlternativeNames,
    /// Any text.
    Free,
}

/// Lower case, in which two texts are compared.
#[derive(Clone, Debug)]
enum Literal {
    Contained(String),
    Beginning(String),
}

/// Shorter values have no trigram.
const SHORT: usize = 3;

impl TextFilter {
    /// Asks a text of this kind for `value`, which is not empty.
    ///
    /// # Errors
    ///
    /// It is a regular expression for a distinguished name, and a bad one.
    pub fn new(kind: TextKind, value: &str) -> Result<Self, BadExpression> {
        let lower = fold(value);
        let literal = if value.chars().count() < SHORT {
            Literal::Beginning(lower)
        } else {
            Literal::Contained(lower)
        };
        let mut needs = match (&literal, kind) {
            (Literal::Beginning(value), kind) => Needs::beginning(kind, value),
            (Literal::Contained(value), kind) => Needs::contained(kind, value),
        };
        let literal = Some(literal);
        if kind != TextKind::DistinguishedName {
            return Ok(Self { literal, expression: None, needs });
        }
        match expression::reading(value) {
            expression::Reading::Literal => Ok(Self { literal, expression: None, needs }),
            expression::Reading::Expression => {
                let (expression, needs) = expression::compile(value)?;
                Ok(Self { literal: None, expression: Some(expression), needs })
            }
            // What is escaped can be meant either way, so either may match.
            expression::Reading::Either => {
                let expression = expression::compile(value).ok();
                if let Some((_, more)) = &expression {
                    needs = needs.or(more.clone());
                }
                let expression = expression.map(|(expression, _)| expression);
                Ok(Self { literal, expression, needs })
            }
        }
    }

    /// Whether this distinguished name, in the form of the record, is one that was asked for.
    pub fn matches_dn(&self, dn: &str) -> bool {
        let close = without_blanks(dn);
        let expression = self.expression.as_ref().filter(|_| dn.len() <= MOST_EXPRESSED);
        if expression.is_some_and(|e| e.is_match(dn) || e.is_match(&close)) {
            return true;
        }
        let Some(literal) = &self.literal else { return false };
        literal.matches(&fold(dn)) || literal.matches(&fold(&close))
    }

    /// The same of a text that is no distinguished name.
    pub fn matches_text(&self, text: &str) -> bool {
        self.literal.as_ref().is_some_and(|literal| literal.matches(&fold(text)))
    }

    /// The same of names, each `TYPE:value`: the type may be left out where a short value is asked.
    pub fn matches_names<'a>(&self, names: impl IntoIterator<Item = &'a str>) -> bool {
        let Some(literal) = &self.literal else { return false };
        names.into_iter().any(|name| {
            let name = fold(name);
            let value = name.split_once(':').map_or("", |(_, value)| value);
            literal.matches(&name) || literal.matches(value)
        })
    }

    /// What every text has that matches.
    pub fn needs(&self) -> &Needs {
        &self.needs
    }
}

impl Literal {
    /// `text` is in lower case.
    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Contained(value) => text.contains(value.as_str()),
            Self::Beginning(value) => text.starts_with(value.as_str()),
        }
    }
}

/// Lower case character by character, so that a part of a text stays a part of it.
fn fold(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    text.chars().map(fold_character).collect()
}

/// One character for one (simple case folding): the three forms of a Greek sigma are one letter, as
/// for an expression. A letter that no ASCII letter is in the eyes of the indexes stays what it is.
fn fold_character(character: char) -> char {
    fn only(mut cases: impl Iterator<Item = char>) -> Option<char> {
        let first = cases.next();
        first.filter(|_| cases.next().is_none())
    }
    if character.is_ascii() {
        return character.to_ascii_lowercase();
    }
    let upper = only(character.to_uppercase()).unwrap_or(character);
    let lower = only(upper.to_lowercase()).unwrap_or(character);
    if lower.is_ascii() { character } else { lower }
}

/// A distinguished name with `,` alone between RDNs. A comma in a value is escaped, its blank stays.
fn without_blanks(dn: &str) -> String {
    let mut close = String::with_capacity(dn.len());
    let mut characters = dn.chars().peekable();
    while let Some(character) = characters.next() {
        close.push(character);
        match character {
            '\\' => close.extend(characters.next()),
            ',' => drop(characters.next_if_eq(&' ')),
            _ => {}
        }
    }
    close
}

/// Names of more bytes no expression is tried on: its time is the product of both lengths.
const MOST_EXPRESSED: usize = 4096;

#[cfg(test)]
mod tests;
