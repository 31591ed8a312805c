//! Reads entries of the open journal by number.

use chancery_shared::bytes::Hash;

use super::index::Place;
use super::published::Published;
use super::record::carried_len;
use super::segment_reader::{Next, SegmentReader};
use super::successor::open_successor;
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
    while let Some((_, entry)) = cursor.next()? {
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
    // The number may be one of those that were accepted as lost; then the next is another.
    let entry = cursor.next()?.filter(|(found, _)| *found == seq);
    Ok(entry.map(|(_, entry)| hash_of(entry.as_bytes())))
}

/// Goes through the entries up to the head as it was at the beginning.
struct Cursor<'a> {
    published: &'a Published,
    reader: SegmentReader,
    next: u64,
    head: u64,
}

impl<'a> Cursor<'a> {
    /// Before the first entry above `after`; `None` where there is none.
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
            let position = cursor.reader.position();
            if cursor.reader.skip()? {
                cursor.passed(position);
            } else {
                cursor.enter_next_segment()?;
            }
        }
        Ok(Some(cursor))
    }

    /// The next entry and its number.
    fn next(&mut self) -> Result<Option<(u64, String)>, ReadError> {
        if self.next > self.head {
            return Ok(None);
        }
        let (position, body) = match self.reader.next()? {
            Next::Record { position, body } => (position, body),
            Next::End | Next::Broken { .. } => {
                self.enter_next_segment()?;
                let Next::Record { position, body } = self.reader.next()? else {
                    return Err(self.damaged());
                };
                (position, body)
            }
        };
        // Entries begin with their number; a look at it costs less than reading the whole.
        let is_next = body.starts_with(format!("{{\"seq\":{},", self.next).as_bytes());
        let entry = is_next.then(|| String::from_utf8(body).ok()).flatten();
        let entry = entry.ok_or_else(|| self.damaged())?;
        let seq = self.next;
        self.passed(position);
        Ok(Some((seq, entry)))
    }

    /// The record at this position was the next one.
    fn passed(&mut self, position: u64) {
        let segment = self.reader.header().first_seq;
        self.published.index().note(Place { segment, seq: self.next, position });
        self.next += 1;
    }

    /// Goes on behind the last entry of a segment. Below the head there is always a next one.
    fn enter_next_segment(&mut self) -> Result<(), ReadError> {
        // A segment without entries has the number of the next one.
        let behind = self.next.max(self.reader.header().first_seq.saturating_add(1));
        let successor = self.published.index().segment_from(behind);
        let (Next::End, Some(successor)) = (self.reader.next()?, successor) else {
            return Err(self.damaged());
        };
        let folder = &self.published.folder;
        self.reader = open_successor(folder, &self.reader, self.next, successor)?;
        self.next = successor;
        Ok(())
    }

    fn damaged(&self) -> ReadError {
        self.reader.damaged(self.reader.position(), Damage::Checksum)
    }
}
