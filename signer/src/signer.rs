//! What all requests share: journal, keyring, tokens, clock, and whether anything may be signed.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chancery_shared::id::KeyId;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{KeyState, KeySummary, TokenState};
use chancery_shared::wire::{JournalHead, Refusal};
use time::OffsetDateTime;

use crate::approval::Approvals;
use crate::budget::Budget;
use crate::clock::Clock;
use crate::clock_guard::ClockGuard;
use crate::config::Config;
use crate::journal::{Journal, JournalError, SignedCa};
use crate::keyring::Keyring;
use crate::refusal::RequestError;
use crate::refusals::Refusals;
use crate::token::{Token, TokenError};

/// One signer.
pub struct Signer {
    /// The operator's settings.
    pub config: Config,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
    /// Everything that happens is there first.
    pub journal: Journal,
    /// The CA keys.
    pub keyring: Keyring,
    /// The tokens by name.
    pub tokens: BTreeMap<String, Token>,
    /// What waits for the operator.
    pub approvals: Approvals,
    /// Whether the clock can be believed.
    pub clock_guard: ClockGuard,
    /// Signatures by key.
    pub signatures: Budget<KeyId>,
    /// Key creations, enables, destroys, by name of the operation.
    pub changes: Budget<&'static str>,
    /// Seals and unseals.
    pub seals: Budget<()>,
    /// Requests that are parked for the operator.
    pub parkings: Budget<()>,
    /// New at each start.
    pub boot_id: String,
    /// When this process started.
    pub started_at: OffsetDateTime,
    /// How far the processes are confined, in sentences.
    pub sandbox: Vec<String>,
    /// Refusals since the start, their alarm, and how many of them the journal takes.
    pub refusals: Refusals,
    /// Set once `started` is in the journal.
    pub(crate) is_started: AtomicBool,
    /// Set once the API has named a head that this journal has, or where the journal is new: until
    /// then an old copy of it may call a CA's live key pending.
    pub(crate) is_vouched_for: AtomicBool,
    /// CA certificates that are signed and could not be installed yet, oldest first.
    pub(crate) uninstalled: Mutex<Vec<SignedCa>>,
    /// Intents whose end could not be journaled yet.
    pub(crate) unclosed: Mutex<Vec<(u64, String)>>,
}

impl Signer {
    /// Whether anything may be signed at all; the time to judge by.
    ///
    /// # Errors
    ///
    /// The journal is behind or can't be written, or the clock jumped.
    pub fn may_sign(&self) -> Result<OffsetDateTime, RequestError> {
        if let Some(missing) = self.missing_head() {
            return Err(RequestError::JournalBehind { missing });
        }
        if !self.is_started.load(Ordering::Acquire) {
            return Err(RequestError::NotStarted);
        }
        Ok(self.clock_guard.check(self.clock.as_ref())?)
    }

    /// The time for what must neither end nor come back because the clock was set: see
    /// [`ClockGuard::time`].
    pub fn guarded_now(&self) -> OffsetDateTime {
        self.clock_guard.time(self.clock.as_ref())
    }

    /// Why nothing can be signed, for those who ask how the signer is.
    pub fn halted(&self) -> Option<Refusal> {
        let writable =
            if self.journal.is_writable() { Ok(()) } else { Err(RequestError::NotStarted) };
        writable.and_then(|()| self.may_sign().map(drop)).err().map(|error| error.refusal())
    }

    /// The head that was seen before and is not in the journal.
    pub fn missing_head(&self) -> Option<JournalHead> {
        self.keyring.lost()
    }

    /// Where the journal stands, for the API to remember; `None` where it lacks entries: those that
    /// follow a loss must not take the place of what the API knows.
    pub fn told_head(&self) -> Option<JournalHead> {
        self.missing_head().is_none().then(|| self.journal.head())
    }

    /// Holds heads that the API knows against the journal. Those of other signers say nothing.
    ///
    /// # Errors
    ///
    /// The journal can't be read, or can't have lost so many entries.
    pub async fn compare_heads(&self, known: &[JournalHead]) -> Result<(), RequestError> {
        let is_ours = |head: &&JournalHead| head.signer_id == self.journal.signer_id();
        let ours = known.iter().filter(is_ours).copied();
        let ours: Vec<_> = ours.filter(|head| !self.keyring.is_accepted(head)).collect();
        if ours.is_empty() {
            return Ok(());
        }
        // All or none, before any is remembered: one that nobody could accept afterwards would
        // stop the signer for good.
        if let Some(head) = ours.iter().find(|head| !self.journal.can_have_lost(head)) {
            return Err(RequestError::ImplausibleHead { seq: head.seq });
        }
        let judge = move |journal: &Journal| {
            let judged = ours.into_iter().map(|head| Ok((head, journal.accounts_for(&head)?)));
            judged.collect::<Result<Vec<_>, JournalError>>()
        };
        for (head, is_there) in self.journal.reading(judge).await? {
            if is_there {
                self.is_vouched_for.store(true, Ordering::Release);
                continue;
            }
            self.keyring.miss(head).await;
        }
        Ok(())
    }

    /// The keys as the API may see them.
    pub fn key_summaries(&self) -> Vec<KeySummary> {
        let mut keys = self.keyring.summaries();
        for key in keys.iter_mut().filter(|key| key.state != KeyState::Destroyed) {
            let token = self.tokens.get(&key.token);
            key.is_missing = token.is_some_and(|token| token.lacks(key.key_id));
        }
        keys
    }

    /// The token, if requests to it make sense now. Refusing here spares an intent that would be
    /// abandoned at once.
    ///
    /// # Errors
    ///
    /// Unknown, away, or it refused the PIN.
    pub fn ready_token(&self, name: &str) -> Result<&Token, RequestError> {
        let token = self.tokens.get(name).ok_or(RequestError::UnknownToken)?;
        match token.state() {
            // While it recovers, its queue holds requests for as long as they may wait.
            TokenState::Ok | TokenState::Recovering => Ok(token),
            TokenState::PinRefused => Err(TokenError::PinRefused.into()),
            TokenState::Absent => Err(TokenError::Unavailable.into()),
        }
    }

    /// Ends an intent without a signature. What the journal does not take now, it takes later.
    pub async fn abandon(&self, intent: u64, reason: String) {
        if let Err(error) = self.close_intent(intent, reason.clone()).await
            // Ended already: there is nothing left to do.
            && !matches!(error, JournalError::NotOpen { .. })
        {
            tracing::warn!(intent, %error, "an abandoned intent will be closed later");
            self.unclosed.lock().unwrap_or_else(PoisonError::into_inner).push((intent, reason));
        }
    }

    /// Closes what [`Self::abandon`] had to leave open.
    pub async fn close_abandoned(&self) {
        let unclosed =
            std::mem::take(&mut *self.unclosed.lock().unwrap_or_else(PoisonError::into_inner));
        for (intent, reason) in unclosed {
            self.abandon(intent, reason).await;
        }
    }

    async fn close_intent(&self, intent: u64, reason: String) -> Result<(), JournalError> {
        self.journal.append(Event::Abandoned { intent, reason }).await.map(drop)
    }

    /// Time for [`Budget`]s: it never goes back.
    pub fn uptime(&self) -> Duration {
        self.clock.since_boot()
    }
}
