//! Goes through a journal's records from segment to segment, without an open journal.
//!
//! It takes no lock, so that a running signer's journal can be walked too. Then its end may be a
//! group that is being written.

use std::path::{Path, PathBuf};

use super::segment::{self, Header};
use super::segment_reader::{Next, SegmentReader};
use super::successor::open_successor;
use super::tear::{Judgement, judge};
use super::{Damage, ReadError};

/// The end of a journal that is no whole record: a group that was being written when the power
/// failed, or that is being written now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTail {
    /// The last segment.
    pub file: PathBuf,
    /// Where the last whole record ends.
    pub position: u64,
    /// How many bytes follow.
    pub bytes: u64,
}

/// A walk and where it is.
#[derive(Debug)]
pub(super) struct Walk {
    folder: PathBuf,
    reader: SegmentReader,
    next_seq: u64,
    torn: Option<TornTail>,
    segments: u64,
}

/// A record as it stands in its segment.
#[derive(Debug)]
pub(super) struct Stored {
    /// Where it begins.
    pub(super) position: u64,
    /// The number that its place gives it.
    pub(super) seq: u64,
    /// The entry's JSON.
    pub(super) body: Vec<u8>,
}

impl Walk {
    /// Begins before the entry with this number, or at the end where there is none.
    pub(super) fn from(folder: &Path, seq: u64) -> Result<Self, ReadError> {
        let segments = segment::list(folder)?;
        let missing = || {
            let file = folder.join(segment::name(1));
            ReadError::damaged(&file, 0, Damage::MissingSegment { first_seq: 1 })
        };
        if segments.first() != Some(&1) {
            return Err(missing());
        }
        let first_seq = segments.iter().rev().find(|first| **first <= seq).copied();
        let first_seq = first_seq.ok_or_else(missing)?;
        let reader = SegmentReader::open(folder, first_seq)?;
        let mut walk = Self {
            folder: folder.to_owned(),
            reader,
            next_seq: first_seq,
            torn: None,
            segments: 1,
        };
        while walk.next_seq < seq && walk.reader.skip()? {
            walk.next_seq += 1;
        }
        Ok(walk)
    }

    /// The next record; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Stored>, ReadError> {
        loop {
            let (rest, position) = match self.reader.next()? {
                Next::Record { position, body } => return Ok(Some(self.stored(position, body))),
                Next::End => (Vec::new(), self.reader.position()),
                Next::Broken { position } => (self.reader.rest(position)?, position),
            };
            if !rest.is_empty() {
                match judge(&rest, position) {
                    Judgement::Whole => continue,
                    Judgement::Torn => {}
                    Judgement::Damaged => return Err(self.damaged(position, Damage::Checksum)),
                }
            }
            let Some(successor) = self.successor()? else {
                let (file, bytes) = (self.reader.path().to_owned(), rest.len() as u64);
                self.torn = (bytes > 0).then_some(TornTail { file, position, bytes });
                return Ok(None);
            };
            // The signer may have gone on between the two looks. With a successor this segment is
            // final: what was being written is whole now, or never will be.
            match self.reader.next()? {
                Next::Record { position, body } => return Ok(Some(self.stored(position, body))),
                Next::Broken { position } => return Err(self.damaged(position, Damage::Checksum)),
                Next::End => self.enter(successor)?,
            }
        }
    }

    /// How the journal ends, once [`Walk::next`] has come there.
    pub(super) fn torn(&self) -> Option<&TornTail> {
        self.torn.as_ref()
    }

    /// Header of the segment that the last record came from.
    pub(super) fn header(&self) -> Header {
        self.reader.header()
    }

    /// How many segments were entered.
    pub(super) fn segments(&self) -> u64 {
        self.segments
    }

    /// Says that the last record is not what was written.
    pub(super) fn damaged(&self, position: u64, damage: Damage) -> ReadError {
        self.reader.damaged(position, damage)
    }

    fn stored(&mut self, position: u64, body: Vec<u8>) -> Stored {
        let seq = self.next_seq;
        self.next_seq += 1;
        Stored { position, seq, body }
    }

    fn enter(&mut self, successor: u64) -> Result<(), ReadError> {
        self.reader = open_successor(&self.folder, &self.reader, self.next_seq, successor)?;
        self.next_seq = successor;
        self.segments += 1;
        Ok(())
    }

    fn successor(&self) -> Result<Option<u64>, ReadError> {
        let here = self.reader.header().first_seq;
        Ok(segment::list(&self.folder)?.into_iter().find(|first| *first > here))
    }
}
