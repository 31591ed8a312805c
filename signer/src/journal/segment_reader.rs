//! Reads one segment, record by record, from any position.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::record::{FRAME_LEN, Frame};
use super::segment::{self, FIRST_RECORD, HEADER_LEN, Header};
use super::{Damage, ReadError};

/// An open segment and where it is being read.
#[derive(Debug)]
pub(super) struct SegmentReader {
    path: PathBuf,
    header: Header,
    file: BufReader<File>,
    position: u64,
}

/// What stands at a position.
#[derive(Debug)]
pub(super) enum Next {
    /// A whole record.
    Record {
        /// Where its frame begins.
        position: u64,
        /// The entry's JSON.
        body: Vec<u8>,
    },
    /// Nothing any more.
    End,
    /// Something that is no whole record.
    Broken {
        /// Where it begins.
        position: u64,
    },
}

impl SegmentReader {
    /// Opens the segment and checks its header.
    pub(super) fn open(folder: &Path, first_seq: u64) -> Result<Self, ReadError> {
        let path = folder.join(segment::name(first_seq));
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(ReadError::damaged(&path, 0, Damage::MissingSegment { first_seq }));
            }
            Err(error) => return Err(ReadError::file(&path, error)),
        };
        let mut file = BufReader::with_capacity(BUFFER, file);
        let mut bytes = [0; HEADER_LEN];
        match file.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(ReadError::damaged(&path, 0, Damage::NotASegment));
            }
            read => read.map_err(|error| ReadError::file(&path, error))?,
        }
        let header =
            Header::decode(&bytes).map_err(|damage| ReadError::damaged(&path, 0, damage))?;
        if header.first_seq != first_seq {
            return Err(ReadError::damaged(&path, 0, Damage::Misplaced));
        }
        Ok(Self { path, header, file, position: FIRST_RECORD })
    }

    /// Goes to a position at which a record is known to begin.
    pub(super) fn seek(&mut self, position: u64) -> Result<(), ReadError> {
        let moved = self.file.seek(SeekFrom::Start(position));
        self.position = moved.map_err(|error| self.failed(error))?;
        Ok(())
    }

    /// Reads the next record. After anything but a record the position is where it was.
    pub(super) fn next(&mut self) -> Result<Next, ReadError> {
        let position = self.position;
        let frame = match self.frame()? {
            Ok(frame) => frame,
            Err(next) => return Ok(next),
        };
        let mut body = vec![0; frame.body_len];
        match self.file.read_exact(&mut body) {
            Ok(()) if frame.fits(&body) => {}
            Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
                return Err(self.failed(error));
            }
            _ => {
                self.seek(position)?;
                return Ok(Next::Broken { position });
            }
        }
        self.position = position + record_len(frame);
        Ok(Next::Record { position, body })
    }

    /// Passes over the next record without reading its body; `false` where there is none.
    pub(super) fn skip(&mut self) -> Result<bool, ReadError> {
        let position = self.position;
        let Ok(frame) = self.frame()? else { return Ok(false) };
        let to_next = i64::try_from(frame.body_len).unwrap_or(i64::MAX);
        self.file.seek_relative(to_next).map_err(|error| ReadError::file(&self.path, error))?;
        self.position = position + record_len(frame);
        Ok(true)
    }

    /// All from this position to the end of the file, to judge what is broken there.
    pub(super) fn rest(&mut self, position: u64) -> Result<Vec<u8>, ReadError> {
        self.seek(position)?;
        let mut rest = Vec::new();
        self.file.read_to_end(&mut rest).map_err(|error| self.failed(error))?;
        self.seek(position)?;
        Ok(rest)
    }

    /// The segment's header.
    pub(super) fn header(&self) -> Header {
        self.header
    }

    /// Where the next record begins.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Says that what stands at this position is not what was written.
    pub(super) fn damaged(&self, position: u64, damage: Damage) -> ReadError {
        ReadError::damaged(&self.path, position, damage)
    }

    /// The file's name with its folder.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn frame(&mut self) -> Result<Result<Frame, Next>, ReadError> {
        let position = self.position;
        let mut bytes = [0; FRAME_LEN];
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read(rest) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        if filled == FRAME_LEN
            && let Some(frame) = Frame::decode(bytes)
        {
            return Ok(Ok(frame));
        }
        self.seek(position)?;
        Ok(Err(if filled == 0 { Next::End } else { Next::Broken { position } }))
    }

    fn failed(&self, error: io::Error) -> ReadError {
        ReadError::file(&self.path, error)
    }
}

fn record_len(frame: Frame) -> u64 {
    // Lossless: `usize` has at most 64 bits on every platform that Rust knows.
    (FRAME_LEN + frame.body_len) as u64
}

const BUFFER: usize = 256 * 1024;
