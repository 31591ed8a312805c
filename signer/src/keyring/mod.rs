//! Which CA keys exist, what each may sign, and whether it may.
//!
//! The journal decides: each change is an entry first, and the keyring is what the entries add up
//! to. The file `signer/keyring.json` only saves a start from reading the whole journal.

mod file;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chancery_shared::id::KeyId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::KeySummary;
use tokio::sync::OwnedRwLockReadGuard;

pub use file::KeyringFileError;
pub use record::{KeyRecord, Life};

use crate::journal::{Journal, JournalError, Recovered};

/// The keyring of one signer.
#[derive(Debug)]
pub struct Keyring {
    path: PathBuf,
    journal: Journal,
    state: Mutex<State>,
    /// Held for the whole of a change, so that entries and file have one order.
    changing: tokio::sync::Mutex<()>,
}

/// What the entries add up to.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    keys: BTreeMap<KeyId, Arc<KeyRecord>>,
    /// Heads that the operator accepted as lost.
    accepted: Vec<JournalHead>,
    /// A head that this keyring had seen when the journal came back without it.
    lost: Option<JournalHead>,
}

/// Why a change of the keyring did not come about.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The journal did not take the entry: nothing has changed.
    #[error("the change could not be journaled")]
    Journal(#[from] JournalError),
    /// The entry stands, the file could not follow; the next start reads the journal instead.
    #[error("the keyring file could not be written")]
    File(#[from] KeyringFileError),
}

/// A key that is in use for as long as this is held: `disable` waits for it.
#[derive(Debug)]
pub struct KeyInUse {
    record: Arc<KeyRecord>,
    _use: OwnedRwLockReadGuard<()>,
}

impl KeyInUse {
    /// The key, as it was when the use began.
    #[must_use]
    pub fn record(&self) -> &Arc<KeyRecord> {
        &self.record
    }
}

impl Keyring {
    /// Reads the file and what the journal has beyond it.
    ///
    /// Answers the keyring, and the head that the file knows but the journal lacks, if any.
    ///
    /// # Errors
    ///
    /// The file is damaged (it says which, and that moving it away makes the next start read the
    /// journal), or the journal can't be read.
    pub fn open(
        path: PathBuf,
        journal: Journal,
        journal_folder: &std::path::Path,
        recovered: &Recovered,
    ) -> Result<(Self, Option<JournalHead>), KeyringError> {
        let stored = file::read(&path)?;
        let known = stored.as_ref().map(|stored| stored.head);
        let (mut state, seq) = stored.map_or_else(Default::default, file::Stored::into_state);
        if let Some(head) = known
            && !state.accepted.contains(&head)
            && !journal.accounts_for(&head)?
        {
            state.lost.get_or_insert(head);
        }
        // An acceptance that the file could not follow is among these.
        if recovered.last_keyring_change > seq {
            for entry in crate::journal::entries(journal_folder, seq) {
                state.apply(&entry?.event);
            }
        }
        let lost = state.lost;
        let keyring = Self {
            path,
            journal,
            state: Mutex::new(state),
            changing: tokio::sync::Mutex::default(),
        };
        Ok((keyring, lost))
    }

    /// The key, in whatever state it is.
    #[must_use]
    pub fn key(&self, key_id: KeyId) -> Option<Arc<KeyRecord>> {
        self.state().keys.get(&key_id).cloned()
    }

    /// Begins a use of the key. Its state has to be looked at in the answer, not before.
    pub async fn begin_use(&self, key_id: KeyId) -> Option<KeyInUse> {
        let gate = self.key(key_id)?.gate();
        let in_use = gate.read_owned().await;
        Some(KeyInUse { record: self.key(key_id)?, _use: in_use })
    }

    /// Waits until no use of the key that began before is left.
    pub async fn wait_for_uses(&self, key_id: KeyId) {
        if let Some(record) = self.key(key_id) {
            drop(record.gate().write_owned().await);
        }
    }

    /// Every key, destroyed ones included.
    #[must_use]
    pub fn keys(&self) -> Vec<Arc<KeyRecord>> {
        self.state().keys.values().cloned().collect()
    }

    /// Each key that the API may know of.
    #[must_use]
    pub fn summaries(&self) -> Vec<KeySummary> {
        self.keys().iter().filter_map(|key| key.summary()).collect()
    }

    /// Whether a key of this signer has that SubjectPublicKeyInfo; destroyed ones count too.
    #[must_use]
    pub fn key_of(&self, spki: &[u8]) -> Option<Arc<KeyRecord>> {
        self.state().keys.values().find(|key| key.spki() == spki && !spki.is_empty()).cloned()
    }

    /// Keys on that token that are not destroyed, and those that are being made.
    #[must_use]
    pub fn keys_on(&self, token: &str) -> u32 {
        let state = self.state();
        let on_it = state.keys.values().filter(|key| key.token == token && key.is_on_token());
        u32::try_from(on_it.count()).unwrap_or(u32::MAX)
    }

    /// Whether the operator accepted that this head is lost.
    #[must_use]
    pub fn is_accepted(&self, head: &JournalHead) -> bool {
        self.state().accepted.contains(head)
    }

    /// Begins a change: the keyring stays as it is until the change is dropped or made.
    pub async fn change(&self) -> Change<'_> {
        Change { keyring: self, _alone: self.changing.lock().await }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to change the keyring, held by one at a time.
#[derive(Debug)]
pub struct Change<'a> {
    keyring: &'a Keyring,
    _alone: tokio::sync::MutexGuard<'a, ()>,
}

impl Change<'_> {
    /// Journals the event, then lets it take effect, then writes the file.
    ///
    /// # Errors
    ///
    /// [`KeyringError::Journal`]: nothing has changed. [`KeyringError::File`]: the change stands.
    pub async fn make(&self, event: Event) -> Result<JournalHead, KeyringError> {
        let head = self.keyring.journal.append(event.clone()).await?;
        let stored = {
            let mut state = self.keyring.state();
            state.apply(&event);
            file::Stored::of(&state, head)
        };
        file::write(self.keyring.path.clone(), stored).await?;
        Ok(head)
    }
}

impl State {
    /// Lets one event take effect. Events that say nothing of keys change nothing.
    fn apply(&mut self, event: &Event) {
        match event {
            Event::KeyPending { key_id, .. } => {
                if let Some(record) = KeyRecord::pending(event) {
                    self.keys.insert(*key_id, Arc::new(record));
                }
            }
            Event::KeyCreated { key_id, spki } => {
                self.update(*key_id, |key| key.created(spki));
            }
            Event::KeyCreationFailed { key_id, .. } => {
                self.keys.remove(key_id);
            }
            Event::CaCertificateInstalled { key_id, chain, .. } => {
                self.update(*key_id, |key| key.installed(chain));
            }
            Event::KeyDisabled(event) => self.update(event.key_id, |key| key.now(Life::Disabled)),
            Event::KeyEnabled(event) => self.update(event.key_id, |key| key.now(Life::Live)),
            Event::KeyDestroying(event) => {
                self.update(event.key_id, |key| key.now(Life::Destroying));
            }
            Event::KeyDestroyed { key_id } => {
                self.update(*key_id, |key| key.now(Life::Destroyed));
            }
            Event::JournalAccepted { missing, .. } => {
                self.accepted.push(*missing);
                // It covers those below.
                self.lost = self
                    .lost
                    .filter(|lost| lost.signer_id != missing.signer_id || lost.seq > missing.seq);
            }
            Event::Started { .. }
            | Event::SegmentOpened { .. }
            | Event::TornTailCut { .. }
            | Event::Intent(_)
            | Event::Signed { .. }
            | Event::Abandoned { .. }
            | Event::Refused { .. }
            | Event::RefusalsOmitted { .. }
            | Event::Parked { .. }
            | Event::Approved { .. }
            | Event::Denied { .. }
            | Event::Sealed { .. }
            | Event::Unsealed { .. }
            | Event::ClockAccepted { .. }
            | Event::PinRefusalCleared { .. } => {}
        }
    }

    fn update(&mut self, key_id: KeyId, change: impl FnOnce(&KeyRecord) -> KeyRecord) {
        if let Some(record) = self.keys.get_mut(&key_id) {
            *record = Arc::new(change(record));
        }
    }
}
