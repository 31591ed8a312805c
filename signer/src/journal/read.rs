//! Reads entries of the open journal by number.

use chancery_shared::bytes::Hash;

use super::index::Place;
use super::published::Published;
use super::record::carried_len;
use super::segment_reader::{Next, SegmentReader};
use super::tail::hash_of;
use super::{Damage, ReadError};

/// Entries above `after`, as many as fit into `budget`, at least one.
pub(super) fn read_entries(
    published: &Published,
    after: u64,
    budget: usize,
) -> Result<Vec<String>, ReadError> {
    let mut entries = Vec::new();
    let Some(mut cursor) = Cursor::after(published, after)? else { return Ok(entries) };
    let mut used = 0;
    while let Some(entry) = cursor.next()? {
        used += carried_len(entry.as_bytes());
        if used > budget && !entries.is_empty() {
            break;
        }
        entries.push(entry);
        if used >= budget {
            break;
        }
    }
    Ok(entries)
}

/// Hash of the entry with this number, where there is one.
pub(super) fn entry_hash(published: &Published, seq: u64) -> Result<Option<Hash>, ReadError> {
    let Some(after) = seq.checked_sub(1) else { return Ok(None) };
    let Some(mut cursor) = Cursor::after(published, after)? else { return Ok(None) };
    Ok(cursor.next()?.map(|entry| hash_of(entry.as_bytes())))
}

/// Goes through the entries up to the head as it was at the beginning.
struct Cursor<'a> {
    published: &'a Published,
    reader: SegmentReader,
    next: u64,
    head: u64,
}

impl<'a> Cursor<'a> {
    /// Before the entry that follows `after`; `None` where there is none.
    fn after(published: &'a Published, after: u64) -> Result<Option<Self>, ReadError> {
        let head = published.head().seq;
        if after >= head {
            return Ok(None);
        }
        let wanted = after + 1;
        let Some(place) = published.index().below(wanted) else { return Ok(None) };
        let mut reader = SegmentReader::open(&published.folder, place.segment)?;
        reader.seek(place.position)?;
        let mut cursor = Self { published, reader, next: place.seq, head };
        while cursor.next < wanted {
            cursor.note_place();
            if !cursor.reader.skip()? {
                return Err(cursor.damaged());
            }
            cursor.next += 1;
        }
        Ok(Some(cursor))
    }

    fn next(&mut self) -> Result<Option<String>, ReadError> {
        if self.next > self.head {
            return Ok(None);
        }
        self.note_place();
        let body = match self.reader.next()? {
            Next::Record { body, .. } => body,
            Next::Broken { .. } => return Err(self.damaged()),
            Next::End => {
                self.reader = SegmentReader::open(&self.published.folder, self.next)?;
                let Next::Record { body, .. } = self.reader.next()? else {
                    return Err(self.damaged());
                };
                body
            }
        };
        // Entries begin with their number; a look at it costs less than reading the whole.
        let is_next = body.starts_with(format!("{{\"seq\":{},", self.next).as_bytes());
        let entry = is_next.then(|| String::from_utf8(body).ok()).flatten();
        let entry = entry.ok_or_else(|| self.damaged())?;
        self.next += 1;
        Ok(Some(entry))
    }

    fn note_place(&self) {
        self.published.index().note(Place {
            segment: self.reader.header().first_seq,
            seq: self.next,
            position: self.reader.position(),
        });
    }

    fn damaged(&self) -> ReadError {
        self.reader.damaged(self.reader.position(), Damage::Checksum)
    }
}
