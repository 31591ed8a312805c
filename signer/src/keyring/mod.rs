//! Which CA keys exist, what each may sign, and whether it may.
//!
//! The journal decides: each change is an entry first, and the keyring is what the entries add up
//! to. The file `signer/keyring.json` only saves a start from reading the whole journal.

mod file;
mod rebuild;
mod record;
mod state;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chancery_shared::fail_point;
use chancery_shared::id::KeyId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::KeySummary;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard};

pub use file::KeyringFileError;
pub use rebuild::{RebuildError, Rebuilt, rebuild};
pub use record::{KeyRecord, Life};

use crate::journal::{Journal, JournalError, Recovered};
use state::State;

/// The keyring of one signer.
#[derive(Debug)]
pub struct Keyring {
    path: PathBuf,
    journal: Journal,
    state: Mutex<State>,
    /// Held for the whole of a change, so that entries and effects have one order.
    changing: tokio::sync::Mutex<()>,
    /// Held while the file is written: the newest state is written last.
    saving: tokio::sync::Mutex<()>,
    /// The revision that the file has.
    saved: AtomicU64,
    /// Whether the file could not be written when it was tried last.
    is_unsaved: AtomicBool,
}

/// Why there is no keyring.
#[derive(Debug, thiserror::Error)]
pub enum KeyringError {
    /// The journal can't be read.
    #[error("the journal could not be read")]
    Journal(#[from] JournalError),
    /// The file can't be used.
    #[error("the keyring file could not be read")]
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

/// No use of a key is left, and none begins as long as this is held.
#[derive(Debug)]
pub struct KeyAtRest {
    _rest: OwnedRwLockWriteGuard<()>,
}

impl Keyring {
    /// Reads the file and what the journal has beyond it.
    ///
    /// # Errors
    ///
    /// The file is damaged (it says which, and how it is written anew), or the journal can't be
    /// read.
    pub fn open(
        path: PathBuf,
        journal: Journal,
        journal_folder: &Path,
        recovered: &Recovered,
    ) -> Result<Self, KeyringError> {
        let head = journal.head();
        let nothing = JournalHead { seq: 0, ..head };
        let mut state =
            file::read(&path)?.map_or_else(|| State::before(nothing), file::Stored::into_state);
        let before = (state.lost, state.head);
        state.lost = None;
        for seen in before.0.into_iter().chain((before.1.seq > 0).then_some(before.1)) {
            if !state.accepted.contains(&seen) && !journal.accounts_for(&seen)? {
                state.miss(seen);
            }
        }
        // Changes and acceptances that the file could not follow are among these.
        let after = state.head.seq;
        if recovered.last_keyring_change > after {
            for entry in crate::journal::entries(journal_folder, after) {
                state.apply(&entry?.event);
            }
        }
        // From here on an entry is above this one, also where the file knew higher ones.
        state.head = head;
        state.revision = 1;
        let is_in_file = state.lost == before.0 && recovered.last_keyring_change <= before.1.seq;
        let saved = AtomicU64::new(u64::from(is_in_file));
        Ok(Self {
            path,
            journal,
            state: Mutex::new(state),
            changing: tokio::sync::Mutex::default(),
            saving: tokio::sync::Mutex::default(),
            saved,
            is_unsaved: AtomicBool::new(false),
        })
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

    /// Waits until no use of the key is left; meanwhile none begins.
    pub async fn put_to_rest(&self, key_id: KeyId) -> Option<KeyAtRest> {
        let gate = self.key(key_id)?.gate();
        Some(KeyAtRest { _rest: gate.write_owned().await })
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
        self.count(|key| key.token == token)
    }

    /// Keys that are not destroyed, and those that are being made, wherever they are.
    #[must_use]
    pub fn keys_in_all(&self) -> u32 {
        self.count(|_| true)
    }

    fn count(&self, counts: impl Fn(&KeyRecord) -> bool) -> u32 {
        let state = self.state();
        let counted = state.keys.values().filter(|key| key.is_on_token() && counts(key));
        u32::try_from(counted.count()).unwrap_or(u32::MAX)
    }

    /// Whether the operator accepted that this head is lost.
    #[must_use]
    pub fn is_accepted(&self, head: &JournalHead) -> bool {
        self.state().accepted.contains(head)
    }

    /// A head that was seen and that the journal lacks.
    #[must_use]
    pub fn lost(&self) -> Option<JournalHead> {
        self.state().lost
    }

    /// Someone knows this head and the journal lacks it: from now on, over restarts too, it is
    /// lost, until the operator accepts that.
    pub async fn miss(&self, known: JournalHead) {
        if self.state().miss(known) {
            tracing::error!(seq = known.seq, "the journal lacks an entry that the API knows");
            self.save().await;
        }
    }

    /// Begins a change: the keyring stays as it is until the change is dropped or made.
    pub async fn change(&self) -> Change<'_> {
        Change { keyring: self, _alone: self.changing.lock().await }
    }

    /// Writes the file, where it does not have every change yet. What can't be written is told
    /// once and written later: the journal has it.
    pub async fn save(&self) {
        let _alone = self.saving.lock().await;
        let (stored, revision) = {
            let state = self.state();
            if state.revision == self.saved.load(Ordering::Acquire) {
                return;
            }
            (file::Stored::of(&state), state.revision)
        };
        match file::write(self.path.clone(), stored).await {
            Ok(()) => {
                self.saved.store(revision, Ordering::Release);
                if self.is_unsaved.swap(false, Ordering::AcqRel) {
                    tracing::info!("the keyring file is written again");
                }
            }
            Err(error) => {
                if !self.is_unsaved.swap(true, Ordering::AcqRel) {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "the keyring file is behind the journal for now");
                }
            }
        }
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
    /// Journals the event, then lets it take effect, then has the file follow as far as it can.
    ///
    /// # Errors
    ///
    /// The journal did not take the entry: nothing has changed.
    pub async fn make(&self, event: Event) -> Result<JournalHead, JournalError> {
        let head = self.keyring.journal.append(event.clone()).await?;
        fail_point::reach("keyring: journaled");
        self.keyring.state().change(&event, head);
        self.keyring.save().await;
        Ok(head)
    }
}
