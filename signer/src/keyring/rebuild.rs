//! Writes `keyring.json` anew from the journal alone, while no signer runs.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use chancery_shared::bytes::{Fixed, Hash};
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Entry;

use super::file::{self, KeyringFileError, Stored};
use super::state::State;
use crate::journal::{JournalError, JournalLock, VerifyError, hash_of, verify_each};

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// The journal's last entry: the keyring has everything up to it.
    pub head: JournalHead,
    /// Keys that are not destroyed.
    pub keys: usize,
    /// A head that the file before had seen and the journal lacks. It stays missing until the
    /// operator accepts that.
    pub lost: Option<JournalHead>,
    /// Whether the file before could be read. Where not, nobody knows whether the journal was longer
    /// once, but the API.
    pub is_readable: bool,
}

/// Why the file is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// A signer runs, or the journal's folder can't be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal is damaged: mend that first.
    #[error(transparent)]
    Damaged(#[from] VerifyError),
    /// An entry can't be read, although its hash is right.
    #[error("entry {seq} of the journal can't be read")]
    Entry {
        /// Its number.
        seq: u64,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// The file can't be written.
    #[error("the keyring file could not be written")]
    File(#[from] KeyringFileError),
}

/// Checks the journal in `journal_folder` and writes the keyring that its entries add up to to
/// `path`, for the user who owns the journal. What the file says of keys counts for nothing.
///
/// # Errors
///
/// See [`RebuildError`]. Nothing was changed.
pub fn rebuild(path: &Path, journal_folder: &Path) -> Result<Rebuilt, RebuildError> {
    let _alone = JournalLock::take(journal_folder)?;
    // A rebuilt keyring must not forget that the journal was longer once.
    let (seen, is_readable): (Vec<JournalHead>, bool) = match file::read(path) {
        Ok(stored) => (stored.map(|stored| stored.seen().collect()).unwrap_or_default(), true),
        Err(KeyringFileError::Damaged { .. }) => (Vec::new(), false),
        Err(error) => return Err(error.into()),
    };
    let mut hashes: BTreeMap<u64, Hash> = BTreeMap::new();
    let mut state = State::before(JournalHead {
        signer_id: chancery_shared::id::Id::from_bytes([0; 12]),
        seq: 0,
        hash: Fixed([0; 32]),
    });
    let mut unreadable = None;
    let verified = verify_each(journal_folder, |seq, body| {
        if seen.iter().any(|seen| seen.seq == seq) {
            hashes.insert(seq, hash_of(body));
        }
        match serde_json::from_slice::<Entry>(body) {
            Ok(entry) => state.apply(&entry.event),
            Err(source) => unreadable = Some(RebuildError::Entry { seq, source }),
        }
    })?;
    if let Some(error) = unreadable {
        return Err(error);
    }

    state.head = verified.head;
    for seen in seen {
        let is_there = seen.signer_id == verified.head.signer_id
            && match hashes.get(&seen.seq) {
                Some(hash) => *hash == seen.hash,
                // Its number is lost, as the operator has accepted.
                None => seen.seq <= verified.head.seq,
            };
        if !is_there && !state.accepted.contains(&seen) {
            state.miss(seen);
        }
    }
    let keys = state.keys.values().filter(|key| key.is_on_token()).count();
    let (head, lost) = (state.head, state.lost);
    let failed = |source: io::Error| KeyringFileError::Io { path: path.into(), source };
    let owner = std::fs::metadata(journal_folder).map_err(failed)?;
    file::write_for(path, &Stored::of(&state), &owner).map_err(failed)?;
    Ok(Rebuilt { head, keys, lost, is_readable })
}
