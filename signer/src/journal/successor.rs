//! From one segment to the next.

use std::path::Path;

use super::gap::Gap;
use super::segment::{self, FIRST_RECORD};
use super::segment_reader::{Next, SegmentReader};
use super::tail::Tail;
use super::{Damage, ReadError};

/// Opens the segment that begins with `first_seq` behind `before`, whose last entry is the one
/// before `next_seq`. It has to begin with that number, or to say that the operator accepted
/// exactly what is missing.
pub(super) fn open_successor(
    folder: &Path,
    before: &SegmentReader,
    next_seq: u64,
    first_seq: u64,
) -> Result<SegmentReader, ReadError> {
    let mut next = SegmentReader::open(folder, first_seq)?;
    let (header, before) = (next.header(), before.header());
    if header.previous != before.first_seq && first_seq > next_seq {
        let file = folder.join(segment::name(next_seq));
        return Err(ReadError::damaged(&file, 0, Damage::MissingSegment { first_seq: next_seq }));
    }
    let follows = header.previous == before.first_seq && first_seq >= next_seq;
    if !follows || header.signer_id != before.signer_id {
        return Err(next.damaged(0, Damage::Misplaced));
    }
    if first_seq > next_seq {
        let gap = Gap { after: next_seq.saturating_sub(1), up_to: first_seq.saturating_sub(1) };
        check_accepted(&mut next, gap)?;
    }
    Ok(next)
}

/// Looks at the first two entries, and goes back before them.
fn check_accepted(segment: &mut SegmentReader, gap: Gap) -> Result<(), ReadError> {
    let opening = body(segment, gap)?;
    let resumed = Tail::resume(segment.header(), &opening);
    let (mut tail, _) = resumed.map_err(|damage| segment.damaged(FIRST_RECORD, damage))?;
    if tail.gap != Some(gap) {
        return Err(segment.damaged(FIRST_RECORD, Damage::Gap(gap)));
    }
    let position = segment.position();
    let acceptance = body(segment, gap)?;
    tail.follow(&acceptance).map_err(|damage| segment.damaged(position, damage))?;
    segment.seek(FIRST_RECORD)
}

fn body(segment: &mut SegmentReader, gap: Gap) -> Result<Vec<u8>, ReadError> {
    match segment.next()? {
        Next::Record { body, .. } => Ok(body),
        Next::End | Next::Broken { .. } => {
            Err(segment.damaged(segment.position(), Damage::Gap(gap)))
        }
    }
}
