//! The journal: what is to be signed, was signed and was refused, on disk before anything leaves.
//!
//! Promises: an entry is on disk when [`Journal::append`] returns. A [`RecordedTbs`] is the proof
//!           that its intent is.
//! Never:    an entry is changed or removed; damage is never repaired in silence.
//!
//! # On disk
//!
//! A folder of segments, `00000000000000000001.journal` and so on, named by their first entry.
//!
//! ```text
//! segment = header record*
//! header  = "CHJRNL" version:u16 signer:12 first_seq:u64 previous_first_seq:u64 crc32c:u32
//! record  = group:1 bit, length:31 bits · crc32c:u32 · body (JSON of one entry)
//! ```
//!
//! Integers are big-endian. The CRC covers all that stands before it in the header; in a record
//! it covers the four bytes of the length and the body. The group bit is set in the first record
//! of each group that was written and synced at once. A group is begun only after the one before
//! is on disk, so a power failure can tear the last group and no other: `tear.rs` tells
//! such a tear, which is cut off at the next start, from damage, which stops it.
//!
//! Numbers are contiguous, but for what the operator accepted as lost: see `gap.rs`.
//!
//! Each entry carries the SHA-256 of the body before it. So whoever knows the newest hash knows
//! the whole journal; [`verify`](fn@verify) checks it.

mod command;
mod decided;
mod entries;
mod error;
mod gap;
mod handle;
mod index;
mod last_right;
mod lock;
mod log;
mod published;
mod read;
mod record;
mod recorded;
mod recover;
mod segment;
mod segment_reader;
mod storage;
mod successor;
mod tail;
mod tear;
mod verify;
mod walk;
mod writer;

#[cfg(test)]
mod tests;

pub use decided::{Decided, decided};
pub use entries::{Entries, entries};
pub use error::{Damage, JournalError, ReadError, VerifyError};
pub use gap::Gap;
pub use handle::{Journal, Options};
pub use lock::JournalLock;
pub use published::{JournalCounters, JournalState};
pub use record::MAX_ENTRY;
pub use recorded::RecordedTbs;
pub use recover::{Recovered, SignedCa};
pub(crate) use tail::hash_of;
pub use verify::{Verified, verify, verify_each};
pub use walk::TornTail;
