//! The open end of the journal: stages a group of entries, then writes and syncs it at once.

use std::io;
use std::iter;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chancery_shared::fail_point;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::{Entry, Event};

use super::gap::Gap;
use super::index::Place;
use super::record::{self, InGroup};
use super::segment::{self, FIRST_RECORD, Header};
use super::storage::{SegmentFile, Storage, WriteError};
use super::tail::{Tail, hash_of};
use super::{Damage, JournalError};
use crate::clock::Clock;

/// The segment that is being written, and the group that is being staged for it.
pub(super) struct Log {
    storage: Box<dyn Storage>,
    clock: Arc<dyn Clock>,
    segment_bytes: u64,
    file: Box<dyn SegmentFile>,
    place: Place,
    tail: Tail,
    is_torn: bool,
    staged: Staged,
    /// Where an entry is written before it is staged; kept for its room.
    body: Vec<u8>,
    last_sync: Duration,
}

/// A group that is not written yet.
struct Staged {
    tail: Tail,
    bytes: Vec<u8>,
    entries: u64,
}

/// What a commit has put on disk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Committed {
    /// Where the group begins.
    pub(super) place: Place,
    /// How many entries it has.
    pub(super) entries: u64,
    /// How many bytes.
    pub(super) bytes: u64,
}

impl Log {
    /// Goes on behind `tail`, whose last record ends at `length` of this segment.
    pub(super) fn new(
        storage: Box<dyn Storage>,
        clock: Arc<dyn Clock>,
        segment_bytes: u64,
        segment: u64,
        length: u64,
        tail: Tail,
    ) -> io::Result<Self> {
        let file = storage.open(&segment::name(segment))?;
        let place = Place { segment, seq: tail.seq + 1, position: length };
        let staged = Staged { tail: tail.clone(), bytes: Vec::new(), entries: 0 };
        let last_sync = Duration::ZERO;
        Ok(Self {
            storage,
            clock,
            segment_bytes,
            file,
            place,
            tail,
            is_torn: false,
            staged,
            body: Vec::new(),
            last_sync,
        })
    }

    /// Makes the segment ready for a group: cuts off what a failed write has left, and opens the
    /// next segment where this one is full. Answers the new segment's first entry, if there is.
    pub(super) fn prepare(&mut self) -> Result<Option<Committed>, WriteError> {
        self.discard();
        self.mend().map_err(WriteError::NotWritten)?;
        let is_full = self.place.position >= self.segment_bytes.max(FIRST_RECORD + 1)
            && self.place.seq > self.place.segment + 1
            && self.tail.open_intents.len() <= MAX_OPEN_IN_OPENING;
        if is_full { self.begin_segment(self.place.seq, None).map(Some) } else { Ok(None) }
    }

    /// Adds an entry to the group.
    pub(super) fn stage(&mut self, event: Event) -> Result<JournalHead, JournalError> {
        let (seq, prev) = (self.staged.tail.seq + 1, self.staged.tail.hash);
        let entry = Entry { seq, time: self.clock.now(), prev, event };
        self.body.clear();
        serde_json::to_writer(&mut self.body, &entry).map_err(JournalError::Unencodable)?;
        let body = self.body.as_slice();
        let in_group = if self.staged.entries == 0 { InGroup::First } else { InGroup::Later };
        let before = self.staged.bytes.len();
        record::encode(body, in_group, &mut self.staged.bytes)?;
        if let Err(damage) = self.staged.tail.advance(&entry.event, hash_of(body)) {
            self.staged.bytes.truncate(before);
            return Err(match damage {
                Damage::OutcomeWithoutIntent { intent } => JournalError::NotOpen { intent },
                _ => JournalError::NotOurs,
            });
        }
        self.staged.entries += 1;
        Ok(head(&self.staged.tail))
    }

    /// Writes and syncs the group. On failure nothing of it counts.
    pub(super) fn commit(&mut self) -> Result<Committed, WriteError> {
        let place = self.place;
        if let Err(error) = self.file.write_at(&self.staged.bytes, place.position) {
            self.is_torn = true;
            // Where this fails too, the next group has to mend it first.
            let _ = self.mend();
            return Err(WriteError::NotWritten(error));
        }
        fail_point::reach("journal: written");
        let before = Instant::now();
        self.file.sync().map_err(WriteError::NotSynced)?;
        self.last_sync = before.elapsed();
        let committed = Committed {
            place,
            entries: self.staged.entries,
            bytes: self.staged.bytes.len() as u64,
        };
        self.tail.clone_from(&self.staged.tail);
        self.place.position += committed.bytes;
        self.place.seq = self.tail.seq + 1;
        Ok(committed)
    }

    /// Goes on above the numbers that are lost, in a segment of its own that begins with the
    /// operator's word for it. On failure nothing has changed.
    pub(super) fn go_on_above(
        &mut self,
        gap: Gap,
        acceptance: Event,
    ) -> Result<Committed, WriteError> {
        self.discard();
        self.mend().map_err(WriteError::NotWritten)?;
        self.begin_segment(gap.opening(), Some(acceptance))
    }

    /// Looks whether a group could be written again.
    pub(super) fn has_room(&mut self) -> io::Result<()> {
        self.mend()?;
        self.storage.has_room()
    }

    /// How many entries are staged.
    pub(super) fn staged(&self) -> u64 {
        self.staged.entries
    }

    /// The end of what is on disk.
    pub(super) fn tail(&self) -> &Tail {
        &self.tail
    }

    /// How long the disk took last time.
    pub(super) fn last_sync(&self) -> Duration {
        self.last_sync
    }

    fn discard(&mut self) {
        self.staged.bytes.clear();
        self.staged.entries = 0;
        self.staged.tail.clone_from(&self.tail);
    }

    fn mend(&mut self) -> io::Result<()> {
        if self.is_torn {
            self.file.truncate(self.place.position)?;
            self.is_torn = false;
        }
        Ok(())
    }

    /// Makes a segment with its opening, and with the acceptance of what is missing before it.
    fn begin_segment(
        &mut self,
        first_seq: u64,
        acceptance: Option<Event>,
    ) -> Result<Committed, WriteError> {
        let header =
            Header { signer_id: self.tail.signer_id, first_seq, previous: self.place.segment };
        self.staged.tail.enter_segment(first_seq);
        let opening = self.staged.tail.opening();
        for event in iter::once(opening).chain(acceptance) {
            self.stage(event).map_err(|error| WriteError::NotWritten(io::Error::other(error)))?;
        }
        fail_point::reach("journal: segment full");
        let content = [&header.encode()[..], &self.staged.bytes].concat();
        self.file = self.storage.create(&segment::name(first_seq), &content)?;
        fail_point::reach("journal: segment begun");
        let committed = Committed {
            place: Place { segment: first_seq, seq: first_seq, position: FIRST_RECORD },
            entries: self.staged.entries,
            bytes: self.staged.bytes.len() as u64,
        };
        self.tail.clone_from(&self.staged.tail);
        let position = FIRST_RECORD + committed.bytes;
        self.place = Place { segment: first_seq, seq: self.tail.seq + 1, position };
        self.discard();
        Ok(committed)
    }
}

/// The head as this tail has it.
pub(super) fn head(tail: &Tail) -> JournalHead {
    JournalHead { signer_id: tail.signer_id, seq: tail.seq, hash: tail.hash }
}

/// With more open intents than ever happen, a segment stays open: its successor's first entry
/// names them all, and has a limit like any other.
const MAX_OPEN_IN_OPENING: usize = 8 * 1024;
