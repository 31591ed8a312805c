//! Goes through a journal's records from segment to segment, without an open journal.
//!
//! It takes no lock, so that a running signer's journal can be walked too. Then its end may be a
//! group that is being written.

use std::path::{Path, PathBuf};

use super::segment::{self, Header};
use super::segment_reader::{Next, SegmentReader};
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
            match self.reader.next()? {
                Next::Record { position, body } => {
                    self.next_seq += 1;
                    return Ok(Some(Stored { position, body }));
                }
                Next::End => {
                    if !self.enter_next_segment()? {
                        return Ok(None);
                    }
                }
                Next::Broken { position } => {
                    let rest = self.reader.rest(position)?;
                    match judge(&rest, position) {
                        Judgement::Whole => continue,
                        Judgement::Torn => {}
                        Judgement::Damaged => {
                            return Err(self.damaged(position, Damage::Checksum));
                        }
                    }
                    if self.is_last()? {
                        let (file, bytes) = (self.reader.path().to_owned(), rest.len() as u64);
                        self.torn = Some(TornTail { file, position, bytes });
                        return Ok(None);
                    }
                    // The signer has gone on since: what was being written is whole now, or never
                    // will be.
                    if let Next::Broken { position } = self.reader.next()? {
                        return Err(self.damaged(position, Damage::Checksum));
                    }
                    self.reader.seek(position)?;
                }
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

    fn enter_next_segment(&mut self) -> Result<bool, ReadError> {
        if self.is_last()? {
            return Ok(false);
        }
        let before = self.reader.header();
        let next = SegmentReader::open(&self.folder, self.next_seq)?;
        let header = next.header();
        if header.previous != before.first_seq || header.signer_id != before.signer_id {
            return Err(next.damaged(0, Damage::Misplaced));
        }
        self.reader = next;
        self.segments += 1;
        Ok(true)
    }

    fn is_last(&self) -> Result<bool, ReadError> {
        let here = self.reader.header().first_seq;
        Ok(segment::list(&self.folder)?.last().is_none_or(|last| *last <= here))
    }
}
