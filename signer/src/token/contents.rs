//! Where a token's contents and the keyring differ, as far as was seen.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use chancery_shared::id::KeyId;
use chancery_shared::text;
use chancery_shared::wire::operator::UnknownObject;

use super::error::TokenError;
use super::key_protocol::SweepReport;

/// What the last sweep found, and what signatures said since.
#[derive(Debug, Default)]
pub(super) struct Contents(Mutex<Differences>);

#[derive(Debug, Default)]
struct Differences {
    missing: BTreeSet<KeyId>,
    unknown: Vec<UnknownObject>,
}

impl Contents {
    /// A sweep has looked at the whole token.
    pub(super) fn swept(&self, report: &SweepReport) {
        let missing = report.missing.iter().copied().collect();
        *self.lock() = Differences { missing, unknown: report.unknown.clone() };
    }

    /// The key was asked to sign; says whether it is found missing only now.
    pub(super) fn asked<T>(&self, key_id: KeyId, answer: &Result<T, TokenError>) -> bool {
        match answer {
            Ok(_) => {
                self.lock().missing.remove(&key_id);
                false
            }
            Err(TokenError::KeyGone) => self.lock().missing.insert(key_id),
            Err(_) => false,
        }
    }

    /// Whether the token was found not to hold the key.
    pub(super) fn lacks(&self, key_id: KeyId) -> bool {
        self.lock().missing.contains(&key_id)
    }

    pub(super) fn lacks_any(&self) -> bool {
        !self.lock().missing.is_empty()
    }

    /// How many private keys the keyring does not know.
    pub(super) fn unknown(&self) -> u32 {
        u32::try_from(self.lock().unknown.len()).unwrap_or(u32::MAX)
    }

    /// The first of them, as a list has room for.
    pub(super) fn first_unknown(&self) -> Vec<UnknownObject> {
        let shown = |object: &UnknownObject| UnknownObject {
            id: text::plain(&object.id, MAX_TEXT),
            label: text::plain(&object.label, MAX_TEXT),
        };
        self.lock().unknown.iter().take(MAX_SHOWN).map(shown).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Differences> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// So many objects that no one knows are shown.
const MAX_SHOWN: usize = 20;

/// An id or a label is cut to so many characters.
const MAX_TEXT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: KeyId = KeyId::from_bytes([1; 12]);

    #[test]
    fn a_key_is_missing_until_it_signs_or_a_sweep_finds_it() {
        let contents = Contents::default();
        let gone: Result<(), _> = Err(TokenError::KeyGone);

        assert!(!contents.asked(KEY, &Err::<(), _>(TokenError::Busy)) && !contents.lacks(KEY));
        assert!(contents.asked(KEY, &gone) && contents.lacks(KEY));
        assert!(!contents.asked(KEY, &gone) && contents.lacks(KEY));
        assert!(!contents.asked(KEY, &Ok(())) && !contents.lacks(KEY));

        contents.swept(&SweepReport { missing: vec![KEY], ..SweepReport::default() });
        assert!(contents.lacks(KEY));
        contents.swept(&SweepReport::default());
        assert!(!contents.lacks(KEY));
    }
}
