//! All entries from a number on, straight from the folder: for what happens rarely, such as
//! rebuilding the keyring or an export.

use std::path::Path;

use chancery_shared::wire::journal::Entry;

use super::walk::{Stored, Walk};
use super::{Damage, JournalError, ReadError};

/// The entries of the journal in `folder` with numbers above `after`, one at a time. What the
/// operator accepted as lost is passed over. A torn end is the end. The first error ends it too.
/// The chain is not checked: that is [`verify`](super::verify())'s.
pub fn entries(folder: &Path, after: u64) -> Entries {
    match Walk::from(folder, after.saturating_add(1)) {
        Ok(walk) => Entries { state: State::Walking(Box::new(walk)) },
        Err(error) => Entries { state: State::Failed(Some(error)) },
    }
}

/// See [`entries`].
#[derive(Debug)]
pub struct Entries {
    state: State,
}

#[derive(Debug)]
enum State {
    Walking(Box<Walk>),
    /// The error is handed out once.
    Failed(Option<ReadError>),
}

impl Iterator for Entries {
    type Item = Result<Entry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let walk = match &mut self.state {
            State::Walking(walk) => walk,
            State::Failed(error) => return error.take().map(|error| Err(error.into())),
        };
        let read = walk.next().and_then(|stored| {
            let Some(Stored { position, seq, body }) = stored else { return Ok(None) };
            let entry: Entry = serde_json::from_slice(&body)
                .map_err(|error| walk.damaged(position, Damage::NotAnEntry(error)))?;
            if entry.seq != seq {
                let (expected, found) = (seq, entry.seq);
                return Err(walk.damaged(position, Damage::Sequence { expected, found }));
            }
            Ok(Some(entry))
        });
        match read {
            Ok(entry) => entry.map(Ok),
            Err(error) => {
                self.state = State::Failed(None);
                Some(Err(error.into()))
            }
        }
    }
}
