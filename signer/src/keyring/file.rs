//! `signer/keyring.json`, replaced as a whole at each change.

use std::io;
use std::path::{Path, PathBuf};

use chancery_shared::wire::JournalHead;
use serde::{Deserialize, Serialize};

use super::KeyRecord;
use super::state::State;
use crate::durable;

/// Version of the file's shape.
const VERSION: u32 = 1;

/// The file. Stored: a change of shape is a new version.
#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Stored {
    version: u32,
    /// The newest entry that the file has in it.
    head: JournalHead,
    keys: Vec<KeyRecord>,
    accepted: Vec<JournalHead>,
    /// See [`State::lost`]. Kept over changes that are made meanwhile, `disable-key` for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<JournalHead>,
}

impl Stored {
    pub(super) fn of(state: &State) -> Self {
        let keys = state.keys.values().map(|key| KeyRecord::clone(key)).collect();
        let (head, accepted, lost) = (state.head, state.accepted.clone(), state.lost);
        Self { version: VERSION, head, keys, accepted, lost }
    }

    /// The heads that the file has seen.
    pub(super) fn seen(&self) -> impl Iterator<Item = JournalHead> {
        self.lost.into_iter().chain((self.head.seq > 0).then_some(self.head))
    }

    pub(super) fn into_state(self) -> State {
        let Self { version: _, head, keys, accepted, lost } = self;
        let keys = keys.into_iter().map(|key| (key.key_id, key.with_certificate_read().into()));
        State { keys: keys.collect(), accepted, lost, head, revision: 0 }
    }
}

/// Why the file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyringFileError {
    /// It can't be read or written.
    #[error("{}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// It is no keyring of this version.
    #[error(
        "{} is damaged; `chancery-hsm keyring rebuild` writes it anew from the journal",
        path.display()
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where.
        #[source]
        source: serde_json::Error,
    },
}

/// Reads the file; `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Stored>, KeyringFileError> {
    let text = match std::fs::read(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(KeyringFileError::Io { path: path.into(), source }),
    };
    let damaged = |source| KeyringFileError::Damaged { path: path.into(), source };
    let stored: Stored = serde_json::from_slice(&text).map_err(damaged)?;
    if stored.version != VERSION {
        return Err(damaged(serde::de::Error::custom("another version")));
    }
    Ok(Some(stored))
}

/// As [`write`], for a program that is not the signer: the file belongs to the signer's user.
pub(super) fn write_for(path: &Path, stored: &Stored, owner: &std::fs::Metadata) -> io::Result<()> {
    durable::replace_for(path, &serde_json::to_vec_pretty(stored)?, owner)
}

/// Replaces the file; it is on disk when this returns.
pub(super) async fn write(path: PathBuf, stored: Stored) -> Result<(), KeyringFileError> {
    let failed = {
        let path = path.clone();
        move |source| KeyringFileError::Io { path, source }
    };
    let write = move || {
        let text = serde_json::to_vec_pretty(&stored)?;
        durable::replace(&path, &text)
    };
    tokio::task::spawn_blocking(write).await.map_err(io::Error::other).flatten().map_err(failed)
}
