//! A snapshot of the signer: tokens, keys and whether it signs at all.

use std::sync::Arc;

use chancery_shared::id::{KeyId, SignerId};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{HelloReply, KeyState, KeySummary, TokenState, TokenSummary};
use chancery_shared::wire::{JournalHead, Refusal, RefusalCode};

use super::error::SignerError;

/// What the signer last said of itself.
#[derive(Clone, Debug, Default)]
pub struct SignerState {
    last: Option<Arc<HelloReply>>,
    is_reachable: bool,
}

impl SignerState {
    /// Before the first answer.
    pub(super) fn unknown() -> Self {
        Self::default()
    }

    pub(super) fn said(reply: HelloReply) -> Self {
        Self { last: Some(Arc::new(reply)), is_reachable: true }
    }

    /// The same, with the signer gone since.
    pub(super) fn lost(&self) -> Self {
        Self { last: self.last.clone(), is_reachable: false }
    }

    /// Whether the signer is connected and answers.
    #[must_use]
    pub fn is_reachable(&self) -> bool {
        self.is_reachable
    }

    /// Which signer it is, once it was reached.
    #[must_use]
    pub fn signer_id(&self) -> Option<SignerId> {
        self.last.as_ref().map(|last| last.signer_id)
    }

    /// Where its journal stood when it was last asked; `None` where it lacks entries.
    #[must_use]
    pub fn journal_head(&self) -> Option<JournalHead> {
        self.last.as_ref().and_then(|last| last.journal_head)
    }

    /// The tokens on offer, as last seen.
    #[must_use]
    pub fn tokens(&self) -> &[TokenSummary] {
        self.last.as_ref().map_or(&[], |last| &last.tokens)
    }

    /// The keys of the keyring, as last seen.
    #[must_use]
    pub fn keys(&self) -> &[KeySummary] {
        self.last.as_ref().map_or(&[], |last| &last.keys)
    }

    /// The token of this name, as last seen.
    #[must_use]
    pub fn token(&self, name: &str) -> Option<&TokenSummary> {
        self.tokens().iter().find(|token| token.name == name)
    }

    /// The key of this id, as last seen.
    #[must_use]
    pub fn key(&self, id: KeyId) -> Option<&KeySummary> {
        self.keys().iter().find(|key| key.key_id == id)
    }

    /// The keys that are not where the keyring has them, as last seen.
    pub fn missing_keys(&self) -> impl Iterator<Item = &KeySummary> {
        self.keys().iter().filter(|key| key.is_missing)
    }

    /// The most that the operator allows a key to sign, once the signer was reached.
    #[must_use]
    pub fn ceiling(&self) -> Option<&Policy> {
        self.last.as_ref().map(|last| &last.ceiling)
    }

    /// Whether the operator decides on each destruction of a key, as last seen.
    #[must_use]
    pub fn destroy_awaits_operator(&self) -> bool {
        self.last.as_ref().is_some_and(|last| last.destroy_awaits_operator)
    }

    /// Why nothing can be signed at all, where that is so.
    #[must_use]
    pub fn halted(&self) -> Option<&Refusal> {
        self.last.as_ref().and_then(|last| last.halted.as_ref())
    }

    /// Whether the signer is to be asked for a signature with this key, as far as is known here.
    ///
    /// # Errors
    ///
    /// What the signer would answer, without the wait.
    pub fn check_key(&self, id: KeyId) -> Result<(), SignerError> {
        self.check_signer()?;
        // A key made a moment ago may not be in the snapshot yet: the signer itself will say.
        let Some(key) = self.key(id) else { return Ok(()) };
        match key.state {
            KeyState::Live => match self.token(&key.token) {
                // Opened again within moments, mostly before this snapshot is replaced: the signer
                // keeps the request until then, or says that the token is away.
                Some(token) if token.state == TokenState::Recovering => Ok(()),
                _ => self.check_token(&key.token),
            },
            KeyState::Disabled | KeyState::Destroyed => {
                Err(refusal(RefusalCode::KeyState, "the CA's key is disabled; enable it first"))
            }
        }
    }

    /// Whether the token of this name can be used now, as far as is known here.
    ///
    /// # Errors
    ///
    /// What the signer would answer, without the wait.
    pub fn check_token(&self, name: &str) -> Result<(), SignerError> {
        self.check_signer()?;
        let Some(token) = self.token(name) else {
            return Err(refusal(RefusalCode::UnknownToken, "the signer offers no such token"));
        };
        let code = match token.state {
            TokenState::Ok => return Ok(()),
            TokenState::Recovering | TokenState::Absent => RefusalCode::TokenUnavailable,
            TokenState::PinRefused => RefusalCode::PinRefused,
        };
        let Some(message) = Some(token.message.as_str()).filter(|text| !text.is_empty()) else {
            return Err(refusal(code, "the token is not ready"));
        };
        Err(refusal(code, message))
    }

    /// Whether the signer is there and signs.
    ///
    /// # Errors
    ///
    /// [`SignerError::Unreachable`], or the reason why it has stopped signing.
    pub fn check_signer(&self) -> Result<(), SignerError> {
        if !self.is_reachable {
            return Err(SignerError::Unreachable);
        }
        self.halted().map_or(Ok(()), |halted| Err(SignerError::Refused(halted.clone())))
    }

    /// Whether the signer can sign, and on every token.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let signs = |token: &TokenSummary| token.state == TokenState::Ok;
        self.check_signer().is_ok() && self.tokens().iter().all(signs)
    }
}

fn refusal(code: RefusalCode, detail: &str) -> SignerError {
    SignerError::Refused(Refusal { code, rule: None, detail: detail.into(), retry_after_ms: None })
}
