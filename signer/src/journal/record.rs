//! One record: length, CRC-32C, body. Stored: a change is a new format version.

use super::JournalError;

/// An entry has at most this many bytes when it stands as a string in the JSON of a reply, so that
/// `read-journal` can always answer within one frame.
pub const MAX_ENTRY: usize = 252 * 1024;

/// Length and CRC in front of each body.
pub(super) const FRAME_LEN: usize = 8;

const STARTS_GROUP: u32 = 1 << 31;

/// Whether a record is the first of a group that was written and synced at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InGroup {
    First,
    Later,
}

/// The eight bytes in front of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) in_group: InGroup,
    pub(super) body_len: usize,
    crc: u32,
}

impl Frame {
    fn new(body: &[u8], in_group: InGroup) -> Result<Self, JournalError> {
        let too_long = || JournalError::TooLong { length: body.len() };
        let length = u32::try_from(body.len()).map_err(|_| too_long())?;
        if body.len() > MAX_ENTRY {
            return Err(too_long());
        }
        let crc = checksum(length_field(length, in_group), body);
        Ok(Self { in_group, body_len: body.len(), crc })
    }

    /// `None` where no record has such a length.
    pub(super) fn decode(bytes: [u8; FRAME_LEN]) -> Option<Self> {
        let bytes = u64::from_be_bytes(bytes);
        let field = u32::try_from(bytes >> 32).ok()?;
        let crc = u32::try_from(bytes & u64::from(u32::MAX)).ok()?;
        let in_group = if field & STARTS_GROUP == 0 { InGroup::Later } else { InGroup::First };
        let body_len = usize::try_from(field & !STARTS_GROUP).ok()?;
        (1..=MAX_ENTRY).contains(&body_len).then_some(Self { in_group, body_len, crc })
    }

    fn encode(self) -> [u8; FRAME_LEN] {
        // `new` and `decode` let no longer body pass.
        let length = u32::try_from(self.body_len).unwrap_or(u32::MAX);
        let field = length_field(length, self.in_group);
        (u64::from(field) << 32 | u64::from(self.crc)).to_be_bytes()
    }

    /// Whether exactly this body was written behind this frame.
    pub(super) fn fits(self, body: &[u8]) -> bool {
        u32::try_from(body.len())
            .is_ok_and(|length| self.crc == checksum(length_field(length, self.in_group), body))
    }
}

/// Appends the record of `body` to `group`.
pub(super) fn encode(
    body: &[u8],
    in_group: InGroup,
    group: &mut Vec<u8>,
) -> Result<(), JournalError> {
    let length = carried_len(body);
    if length > MAX_ENTRY {
        return Err(JournalError::TooLong { length });
    }
    group.extend_from_slice(&Frame::new(body, in_group)?.encode());
    group.extend_from_slice(body);
    Ok(())
}

/// How many bytes the body takes as a string inside JSON. Compact JSON has no control characters,
/// so only quotes and backslashes grow.
pub(super) fn carried_len(body: &[u8]) -> usize {
    let escaped = body.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    body.len() + escaped + "\"\",".len()
}

fn length_field(length: u32, in_group: InGroup) -> u32 {
    match in_group {
        InGroup::First => length | STARTS_GROUP,
        InGroup::Later => length,
    }
}

fn checksum(length_field: u32, body: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&length_field.to_be_bytes()), body)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(body: &[u8], in_group: InGroup) -> Vec<u8> {
        let mut record = Vec::new();
        encode(body, in_group, &mut record).unwrap();
        record
    }

    #[test]
    fn a_record_keeps_its_length_its_place_in_the_group_and_its_body() {
        for in_group in [InGroup::First, InGroup::Later] {
            let record = record(b"{\"seq\":1}", in_group);

            let frame = Frame::decode(record[..FRAME_LEN].try_into().unwrap()).unwrap();

            assert_eq!((frame.in_group, frame.body_len), (in_group, 9));
            assert!(frame.fits(&record[FRAME_LEN..]));
        }
    }

    #[test]
    fn any_flipped_bit_of_a_record_is_noticed() {
        let record = record(b"{\"seq\":1}", InGroup::First);
        for bit in 0..record.len() * 8 {
            let mut flipped = record.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);

            let frame = Frame::decode(flipped[..FRAME_LEN].try_into().unwrap());

            let body = &flipped[FRAME_LEN..];
            let accepted = frame.is_some_and(|f| f.body_len == body.len() && f.fits(body));
            assert!(!accepted, "bit {bit}");
        }
    }

    #[test]
    fn an_entry_that_would_not_fit_into_a_reply_is_refused() {
        for (body, fits) in [
            (vec![b'a'; MAX_ENTRY - 3], true),
            (vec![b'a'; MAX_ENTRY - 2], false),
            (vec![b'"'; MAX_ENTRY / 2 - 1], false),
        ] {
            let encoded = encode(&body, InGroup::First, &mut Vec::new());

            assert_eq!(encoded.is_ok(), fits, "{} bytes", body.len());
        }
    }
}
