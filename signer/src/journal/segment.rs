//! One segment's name and header. Stored: a change is a new format version.

use std::fs;
use std::path::Path;

use chancery_shared::id::SignerId;

use super::{Damage, ReadError};

/// Length of the header in bytes; the first record follows at once.
pub(super) const HEADER_LEN: usize = 40;

/// Position of a segment's first record.
pub(super) const FIRST_RECORD: u64 = 40;

/// A file of this ending was being made when the process ended; it counts for nothing.
pub(super) const UNFINISHED: &str = ".new";

const MAGIC: &[u8; 6] = b"CHJRNL";
const VERSION: u16 = 1;
const ENDING: &str = ".journal";

/// What stands in front of a segment's records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// Whose journal.
    pub(super) signer_id: SignerId,
    /// Number of the first entry.
    pub(super) first_seq: u64,
    /// Number of the first entry of the segment before; 0 for none.
    pub(super) previous: u64,
}

impl Header {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_LEN);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_be_bytes());
        bytes.extend_from_slice(self.signer_id.as_bytes());
        bytes.extend_from_slice(&self.first_seq.to_be_bytes());
        bytes.extend_from_slice(&self.previous.to_be_bytes());
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_be_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8; HEADER_LEN]) -> Result<Self, Damage> {
        let (covered, crc) = bytes.split_last_chunk::<4>().ok_or(Damage::NotASegment)?;
        let (magic, rest) = covered.split_first_chunk::<6>().ok_or(Damage::NotASegment)?;
        let (version, rest) = rest.split_first_chunk::<2>().ok_or(Damage::NotASegment)?;
        let (signer_id, rest) = rest.split_first_chunk::<12>().ok_or(Damage::NotASegment)?;
        let (first_seq, rest) = rest.split_first_chunk::<8>().ok_or(Damage::NotASegment)?;
        let (previous, _) = rest.split_first_chunk::<8>().ok_or(Damage::NotASegment)?;
        if magic != MAGIC || u32::from_be_bytes(*crc) != crc32c::crc32c(covered) {
            return Err(Damage::NotASegment);
        }
        let version = u16::from_be_bytes(*version);
        if version != VERSION {
            return Err(Damage::UnknownVersion { version });
        }
        Ok(Self {
            signer_id: SignerId::from_bytes(*signer_id),
            first_seq: u64::from_be_bytes(*first_seq),
            previous: u64::from_be_bytes(*previous),
        })
    }
}

/// The file name of the segment that begins with this entry.
pub(super) fn name(first_seq: u64) -> String {
    format!("{first_seq:020}{ENDING}")
}

/// The first entry of each segment in the folder, in order. Other files are none of ours.
pub(super) fn list(folder: &Path) -> Result<Vec<u64>, ReadError> {
    let failed = |error| ReadError::file(folder, error);
    let mut segments = Vec::new();
    for file in fs::read_dir(folder).map_err(failed)? {
        let file_name = file.map_err(failed)?.file_name();
        segments.extend(file_name.to_str().and_then(first_seq));
    }
    segments.sort_unstable();
    Ok(segments)
}

fn first_seq(file_name: &str) -> Option<u64> {
    let number = file_name.strip_suffix(ENDING)?;
    let first_seq = number.parse().ok()?;
    (name(first_seq) == file_name).then_some(first_seq)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header { signer_id: SignerId::from_bytes([7; 12]), first_seq: 12, previous: 3 }
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let bytes: [u8; HEADER_LEN] = header().encode().try_into().unwrap();

        assert_eq!(Header::decode(&bytes).unwrap(), header());
        assert_eq!(u64::try_from(HEADER_LEN), Ok(FIRST_RECORD));
    }

    #[test]
    fn any_flipped_bit_of_a_header_is_noticed() {
        let bytes: [u8; HEADER_LEN] = header().encode().try_into().unwrap();
        for bit in 0..HEADER_LEN * 8 {
            let mut flipped = bytes;
            flipped[bit / 8] ^= 1 << (bit % 8);

            assert!(Header::decode(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn only_exact_names_are_segments() {
        for (name, number) in [
            ("00000000000000000001.journal", Some(1)),
            ("18446744073709551615.journal", Some(u64::MAX)),
            ("1.journal", None),
            ("+0000000000000000001.journal", None),
            ("00000000000000000001.journal.new", None),
            ("00000000000000000001", None),
        ] {
            assert_eq!(first_seq(name), number, "{name}");
        }
    }
}
