//! Tells what a power failure leaves behind from damage.
//!
//! A group is written only after the one before it is on disk. So what a power failure tears is
//! the last group: the file ends inside it, or sectors of it were never written and read as
//! zeros, which no JSON contains. Everything else (another byte in a record, a record that broke
//! although later groups are there) was on disk once and has changed since.

use super::record::{FRAME_LEN, Frame, InGroup};

/// What the bytes behind the last good record are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Judgement {
    /// The remains of a group that never was on disk as a whole; nobody was told that it is.
    Torn,
    /// Something that was written whole and is not whole now.
    Damaged,
    /// A whole record after all: a running signer has finished writing it meanwhile.
    Whole,
}

/// Judges `rest`, at which no good record was found, at `position` in its file.
pub(super) fn judge(rest: &[u8], position: u64) -> Judgement {
    if whole_record(rest).is_some() {
        return Judgement::Whole;
    }
    let mut broken = rest;
    let mut at = 1;
    let mut later_record = false;
    while let Some(candidate) = rest.get(at..).filter(|candidate| !candidate.is_empty()) {
        let Some((frame, length)) = whole_record(candidate) else {
            at += 1;
            continue;
        };
        if frame.in_group == InGroup::First {
            return Judgement::Damaged;
        }
        if !later_record {
            broken = rest.get(..at).unwrap_or(rest);
            later_record = true;
        }
        at += length;
    }
    if has_unwritten_sector(broken, position) || (!later_record && is_cut_record(rest)) {
        Judgement::Torn
    } else {
        Judgement::Damaged
    }
}

/// The frame and length of the record with which `bytes` begin, if they do.
fn whole_record(bytes: &[u8]) -> Option<(Frame, usize)> {
    let (frame, body) = split_frame(bytes)?;
    let frame = Frame::decode(*frame)?;
    frame.fits(body.get(..frame.body_len)?).then_some((frame, FRAME_LEN + frame.body_len))
}

/// Whether the file ends inside a record. A record with all its bytes and a changed length looks
/// so at first; its checksum over the bytes that are there gives it away.
fn is_cut_record(rest: &[u8]) -> bool {
    let Some((frame, body)) = split_frame(rest) else { return true };
    Frame::decode(*frame).is_some_and(|frame| frame.body_len > body.len() && !frame.fits(body))
}

/// Whether a sector, or the part of one that lies in `broken`, is all zeros.
fn has_unwritten_sector(broken: &[u8], position: u64) -> bool {
    let into_sector = usize::try_from(position % SECTOR as u64).unwrap_or(0);
    let (first, others) = broken.split_at((SECTOR - into_sector).min(broken.len()));
    // A piece of fewer bytes may be zeros by itself: the length of a record begins with some.
    let is_unwritten = |piece: &[u8]| piece.len() >= 4 && piece.iter().all(|byte| *byte == 0);
    is_unwritten(first) || others.chunks(SECTOR).any(is_unwritten)
}

fn split_frame(bytes: &[u8]) -> Option<(&[u8; FRAME_LEN], &[u8])> {
    bytes.split_first_chunk::<FRAME_LEN>()
}

/// The smallest piece that a disk writes as a whole.
const SECTOR: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::record::encode;

    fn record(in_group: InGroup) -> Vec<u8> {
        let mut record = Vec::new();
        encode(br#"{"seq":1,"event":"one that is long enough"}"#, in_group, &mut record).unwrap();
        record
    }

    fn flipped(mut record: Vec<u8>, at: usize) -> Vec<u8> {
        record[at] ^= 1;
        record
    }

    #[test]
    fn a_tear_is_told_from_damage() {
        let (first, later) = (record(InGroup::First), record(InGroup::Later));
        let unwritten = vec![0; later.len()];
        let last = later.len() - 1;
        for (what, rest, judgement) in [
            ("part of a frame", first[..5].to_vec(), Judgement::Torn),
            ("part of a body", first[..last].to_vec(), Judgement::Torn),
            ("zeros", unwritten.clone(), Judgement::Torn),
            ("zeros, then more of the group", [&unwritten[..], &later].concat(), Judgement::Torn),
            ("zeros, then a group", [&unwritten[..], &first].concat(), Judgement::Damaged),
            ("a changed body", flipped(first.clone(), last), Judgement::Damaged),
            ("a shorter length", flipped(first.clone(), 3), Judgement::Damaged),
            ("a greater length", flipped(first.clone(), 2), Judgement::Damaged),
            ("a changed group bit", [&[first[0] & 0x7f], &first[1..]].concat(), Judgement::Damaged),
            (
                "a changed body, then more of the group",
                [flipped(first.clone(), last), later.clone()].concat(),
                Judgement::Damaged,
            ),
            ("a whole record", [&first[..], &first].concat(), Judgement::Whole),
        ] {
            assert_eq!(judge(&rest, 512 * 7), judgement, "{what}");
        }
    }
}
