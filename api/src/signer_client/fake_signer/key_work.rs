//! The life of the fake's keys.

use chancery_shared::id::KeyId;
use chancery_shared::wire::journal::{Event, KeyEvent};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{
    CreateCaKey, KeyChange, KeyChanged, KeyCreated, KeyState, KeySummary, Reply, TokenState,
};
use chancery_shared::wire::{Outcome, RefusalCode};

use super::keys::KeyPair;
use super::refusal;
use super::work::{Answer, Signer, done, new_id};

/// A key of the fake.
pub(crate) struct Key {
    pub(crate) summary: KeySummary,
    pub(crate) spki: Vec<u8>,
    pub(super) pair: KeyPair,
}

impl Signer {
    pub(super) fn create(&mut self, create: CreateCaKey) -> Answer {
        let Some(token) = self.tokens.iter().find(|token| token.name == create.token) else {
            return (None, Outcome::Refused(refusal(RefusalCode::UnknownToken)));
        };
        if token.state != TokenState::Ok {
            return (None, Outcome::Refused(refusal(RefusalCode::TokenUnavailable)));
        }
        let key_id = new_id();
        let pair = KeyPair::generate(create.key_algorithm, create.signature_algorithm);
        let spki = pair.spki();
        let summary = KeySummary {
            key_id,
            token: create.token.clone(),
            key_algorithm: create.key_algorithm,
            signature_algorithm: create.signature_algorithm,
            role: create.role,
            state: KeyState::Live,
            has_ca_certificate: false,
            is_missing: false,
        };
        self.journal.append(Event::KeyPending {
            key_id,
            token: create.token,
            key_algorithm: create.key_algorithm,
            signature_algorithm: create.signature_algorithm,
            role: create.role,
            policy: create.policy.unwrap_or_else(Policy::shipped),
            context: create.context,
        });
        let created = Event::KeyCreated { key_id, spki: spki.clone().into() };
        let head = self.journal.append(created);
        self.keys.push(Key { summary, spki: spki.clone(), pair });
        done(head, Reply::KeyCreated(KeyCreated { key_id, spki: spki.into() }))
    }

    /// A key of this signer that a CA certificate is for has that certificate from then on.
    pub(super) fn install(&mut self, operation: &str, tbs: &[u8]) {
        if operation == "sign-certificate" {
            return;
        }
        let certified = |key: &&mut Key| tbs.windows(key.spki.len()).any(|part| part == key.spki);
        for key in self.keys.iter_mut().filter(certified) {
            key.summary.has_ca_certificate = true;
        }
    }

    pub(super) fn change(&mut self, change: KeyChange, state: KeyState) -> Answer {
        use KeyState::{Destroyed, Disabled, Live};
        let key_id = change.key_id;
        let Some(key) = self.keys.iter_mut().find(|key| key.summary.key_id == key_id) else {
            return (None, Outcome::Refused(refusal(RefusalCode::UnknownKey)));
        };
        match (key.summary.state, state) {
            (is, wished) if is == wished => {
                return (None, Outcome::Done(Reply::KeyChanged(KeyChanged { state })));
            }
            (Live, Disabled) | (Disabled, Live | Destroyed) => key.summary.state = state,
            _ => return (None, Outcome::Refused(refusal(RefusalCode::KeyState))),
        }
        let event = KeyEvent { key_id, reason: change.reason, context: change.context };
        let head = self.journal.append(match state {
            KeyState::Live => Event::KeyEnabled(event),
            KeyState::Disabled => Event::KeyDisabled(event),
            KeyState::Destroyed => Event::KeyDestroying(event),
        });
        done(head, Reply::KeyChanged(KeyChanged { state }))
    }

    pub(super) fn key(&self, id: KeyId) -> &Key {
        self.keys.iter().find(|key| key.summary.key_id == id).unwrap()
    }
}
