//! What a text must contain to match, as far as an index can tell.

use super::TextKind;

/// One of these alternatives holds for every text that matches. No alternative: nothing is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needs(Vec<Vec<Fragment>>);

/// A part of a text, in lower case as far as it is ASCII.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fragment {
    /// Its characters.
    pub text: String,
    /// Whether the text begins with it.
    pub is_first: bool,
}

impl Needs {
    /// The alternatives, each a list of fragments that follow each other in the text.
    pub fn alternatives(&self) -> &[Vec<Fragment>] {
        &self.0
    }

    /// One alternative; none where it says nothing.
    pub(super) fn all_of(fragments: Vec<Fragment>) -> Self {
        let fragments: Vec<_> =
            fragments.into_iter().filter(|each| !each.text.is_empty()).collect();
        if fragments.is_empty() { Self::default() } else { Self(vec![fragments]) }
    }

    /// Either.
    pub(super) fn or(mut self, other: Self) -> Self {
        if self.0.is_empty() || other.0.is_empty() {
            return Self::default();
        }
        self.0.extend(other.0);
        self
    }

    pub(super) fn contained(kind: TextKind, value: &str) -> Self {
        match kind {
            TextKind::DistinguishedName => Self::all_of(split_at_commas(value, false)),
            TextKind::CommonName => Self::all_of(unescaped(value)),
            TextKind::AlternativeNames | TextKind::Free => Self::all_of(vec![inner(value)]),
        }
    }

    pub(super) fn beginning(kind: TextKind, value: &str) -> Self {
        match kind {
            TextKind::DistinguishedName => Self::all_of(split_at_commas(value, true)),
            // As the subject has it.
            TextKind::CommonName if unescaped(value) == [inner(value)] => {
                Self::all_of(vec![inner(&format!("cn={value}"))])
            }
            TextKind::CommonName => Self::default(),
            TextKind::AlternativeNames => {
                let whole = Self::all_of(vec![first(value)]);
                // The last letter of each type stands before the colon, so that there are three.
                LAST_LETTERS
                    .chars()
                    .map(|letter| Self::all_of(vec![inner(&format!("{letter}:{value}"))]))
                    .fold(whole, Self::or)
            }
            TextKind::Free => Self::all_of(vec![first(value)]),
        }
    }
}

/// Of `DNS`, `EMAIL`, `IP`, `URI`, `UPN`, `DIRNAME`, `RID`, `OTHER`.
const LAST_LETTERS: &str = "slpinedr";

fn inner(text: &str) -> Fragment {
    Fragment { text: text.to_owned(), is_first: false }
}

fn first(text: &str) -> Fragment {
    Fragment { text: text.to_owned(), is_first: true }
}

/// The parts between commas, with or without a blank behind: what both forms of a name have.
pub(super) fn split_at_commas(text: &str, is_first: bool) -> Vec<Fragment> {
    let parts = text.split(',').enumerate().map(|(number, part)| {
        let part = if number == 0 { part } else { part.strip_prefix(' ').unwrap_or(part) };
        Fragment { text: part.to_owned(), is_first: is_first && number == 0 }
    });
    parts.collect()
}

/// The parts of a common name that stand in the subject as they are: there some characters are
/// escaped (RFC 4514, section 2.4), and a blank at the end is.
fn unescaped(value: &str) -> Vec<Fragment> {
    let is_escaped = |c: char| c.is_control() || ",+\"\\<>;=#".contains(c);
    value.split(is_escaped).map(|part| inner(part.trim_end_matches(' '))).collect()
}
