//! What can go wrong with the journal, sorted by what to do next.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chancery_shared::bytes::Hash;

use super::gap::Gap;
use super::record::MAX_ENTRY;
use crate::policy::PolicyViolation;

/// Why an entry was not written, or the journal not opened or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk is full or refuses a write. The entry is not in the journal. The next entry is
    /// tried as usual, and the journal looks by itself whether there is room again.
    #[error("the journal can't be written at the moment")]
    Unavailable(#[source] Arc<io::Error>),
    /// The disk did not confirm what was written. Nobody knows whether the entry is on disk, so
    /// the process must end; the next start reads what is really there.
    #[error("the disk did not confirm a write to the journal: the signer must start again")]
    SyncFailed,
    /// The journal was closed. The entry is not in it.
    #[error("the journal is closed")]
    Closed,
    /// The entry would not fit into a reply of `read-journal`. It is not in the journal.
    #[error("a journal entry of {length} bytes is longer than {MAX_ENTRY}")]
    TooLong {
        /// Its length inside a reply.
        length: usize,
    },
    /// The outcome names an intent that is not open. It is not in the journal.
    #[error("entry {intent} is not an open intent")]
    NotOpen {
        /// The number in the outcome.
        intent: u64,
    },
    /// The entry names another signer, or opens a segment, which the journal does itself. It is
    /// not in the journal.
    #[error("the entry does not belong into this journal")]
    NotOurs,
    /// The missing head is so far above the end that no journal can have lost it. Nothing changed.
    #[error("{} entries are more than a journal can have lost", gap.up_to - gap.after)]
    Implausible {
        /// What would be left out.
        gap: Gap,
    },
    /// The entry has no JSON, such as a time after the year 9999. It is not in the journal.
    #[error("the journal entry can't be encoded")]
    Unencodable(#[source] serde_json::Error),
    /// Another process writes this journal. Nothing was read or changed.
    #[error("another signer has the journal {} open: stop it first", folder.display())]
    Locked {
        /// The journal's folder.
        folder: PathBuf,
    },
    /// The folder can't be used. Nothing was written.
    #[error("the journal folder {} can't be used", folder.display())]
    Folder {
        /// The journal's folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// What is stored can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What is stored can't be read, or is not what was written.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A file could not be read.
    #[error("{} can't be read", file.display())]
    File {
        /// Which file, or the folder.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The journal is damaged, or someone changed it.
    #[error(
        "journal damaged at byte {position} of {}: {damage}; change nothing, keep a copy of the \
         folder, bring the journal back from its newest backup and start again \
         (`chancery-hsm journal verify` checks it, `chancery-hsm accept-journal` accepts what the \
         backup lacks)",
        file.display()
    )]
    Damaged {
        /// Which segment.
        file: PathBuf,
        /// Where the broken record begins.
        position: u64,
        /// What is wrong there.
        damage: Damage,
    },
}

impl ReadError {
    pub(super) fn file(file: &Path, source: io::Error) -> Self {
        Self::File { file: file.to_owned(), source }
    }

    pub(super) fn damaged(file: &Path, position: u64, damage: Damage) -> Self {
        Self::Damaged { file: file.to_owned(), position, damage }
    }
}

/// The first break that [`verify`](super::verify()) met.
pub type VerifyError = ReadError;

/// How stored bytes differ from what the journal writes.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The file does not begin like a segment.
    #[error("this is no segment of a journal")]
    NotASegment,
    /// Written by a newer program.
    #[error("format version {version} is newer than this program")]
    UnknownVersion {
        /// As stored.
        version: u16,
    },
    /// The segment's header says something else than its name or its neighbour.
    #[error("the segment's header does not fit its name or the segment before")]
    Misplaced,
    /// A segment is not where the numbers say that it must be.
    #[error("the segment that begins with entry {first_seq} is missing")]
    MissingSegment {
        /// Number of its first entry.
        first_seq: u64,
    },
    /// Length or checksum of the record is wrong.
    #[error("the record is not what was written (length or CRC-32C)")]
    Checksum,
    /// The body is not an entry that this program knows.
    #[error("the record is no journal entry")]
    NotAnEntry(#[source] serde_json::Error),
    /// An entry was removed, added or swapped.
    #[error("entry {found} stands where entry {expected} belongs")]
    Sequence {
        /// The number that comes next.
        expected: u64,
        /// The number in the entry.
        found: u64,
    },
    /// Entries are missing without the operator's word, or it names others.
    #[error(
        "entries {} to {} are missing, and the entry that accepts exactly this is not there",
        .0.after.saturating_add(1),
        .0.up_to
    )]
    Gap(Gap),
    /// The entry accepts a missing head, and yet numbers do not go on above it.
    #[error("the entry accepts that entries up to {} are lost, and does not stand above", .0.up_to)]
    NotAbove(Gap),
    /// The entry does not follow the one before.
    #[error("entry {seq} does not follow the entry before it (its hash is {before})")]
    Chain {
        /// The entry that names another predecessor.
        seq: u64,
        /// Hash of the entry before, as stored.
        before: Hash,
    },
    /// The entry names another signer than the segment does.
    #[error("the entry is of another signer's journal")]
    OtherSigner,
    /// The first entry of a segment does not sum up the segments before, or one stands elsewhere.
    #[error("the entry that opens a segment is missing, misplaced or wrong")]
    Opening,
    /// An outcome without its intent, or a second outcome.
    #[error("the entry closes {intent}, which is not an open intent")]
    OutcomeWithoutIntent {
        /// The number in the outcome.
        intent: u64,
    },
    /// The serial number can't be made from the nonce.
    #[error("the serial number of the intent's TBS can't be computed")]
    SerialForm(#[source] PolicyViolation),
    /// The serial number is not the one that the nonce gives.
    #[error("the serial number is not the one that the nonce and the TBS give")]
    Serial,
    /// The signature's entry names another key than its intent.
    #[error("the key is not the one of the intent")]
    OtherKey,
}
