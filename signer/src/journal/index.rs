//! Where entries stand: each segment's beginning, and some places between.

use std::collections::BTreeMap;

use super::segment::FIRST_RECORD;

/// Where one entry's record begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// First entry of its segment.
    pub(super) segment: u64,
    /// The entry's number.
    pub(super) seq: u64,
    /// Position in the segment.
    pub(super) position: u64,
}

/// A sparse index that grows with what is written and read. A lookup and the walk from its place
/// to the entry cost the same however long the history is.
#[derive(Debug)]
pub(super) struct Index {
    /// By entry number: segment and position.
    places: BTreeMap<u64, (u64, u64)>,
    /// How many of the places are no segment's beginning.
    between: usize,
}

impl Index {
    /// Knows the beginnings of these segments.
    pub(super) fn new(segments: impl IntoIterator<Item = u64>) -> Self {
        let places = segments.into_iter().map(|first| (first, (first, FIRST_RECORD))).collect();
        Self { places, between: 0 }
    }

    /// A segment begins with this entry from now on.
    pub(super) fn add_segment(&mut self, first_seq: u64) {
        self.places.insert(first_seq, (first_seq, FIRST_RECORD));
    }

    /// Keeps the place if no other is near below it.
    pub(super) fn note(&mut self, place: Place) {
        let is_near = self.below(place.seq).is_some_and(|near| {
            let is_close = place.position < near.position.saturating_add(STRIDE);
            // The end of one segment is no place for the entry that begins the next.
            near.seq == place.seq || (near.segment == place.segment && is_close)
        });
        if is_near {
            return;
        }
        if self.between >= MAX_BETWEEN {
            // Reading and writing fill it again; what is in use comes back first.
            self.places.retain(|seq, (segment, _)| seq == segment);
            self.between = 0;
        }
        self.places.insert(place.seq, (place.segment, place.position));
        self.between += 1;
    }

    /// The first segment that begins with this number or above.
    pub(super) fn segment_from(&self, seq: u64) -> Option<u64> {
        let mut above = self.places.range(seq..);
        above.find_map(|(seq, (segment, _))| (seq == segment).then_some(*seq))
    }

    /// The nearest known place at or before this entry.
    pub(super) fn below(&self, seq: u64) -> Option<Place> {
        let (seq, (segment, position)) = self.places.range(..=seq).next_back()?;
        Some(Place { segment: *segment, seq: *seq, position: *position })
    }
}

/// Bytes between two places.
const STRIDE: u64 = 64 * 1024;

/// A gigabyte of journal at this stride, in about a megabyte of memory.
const MAX_BETWEEN: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_looked_for_from_the_nearest_place_below_it() {
        let mut index = Index::new([1, 100]);
        index.note(Place { segment: 1, seq: 50, position: STRIDE + FIRST_RECORD });
        index.note(Place { segment: 1, seq: 51, position: STRIDE + FIRST_RECORD + 9 });

        let found = [1, 49, 50, 51, 99, 100, u64::MAX].map(|seq| index.below(seq).unwrap().seq);

        assert_eq!(found, [1, 1, 50, 50, 50, 100, 100]);
        assert_eq!(index.below(0), None);
    }

    #[test]
    fn the_end_of_a_segment_is_no_place_for_the_entry_that_begins_the_next() {
        let mut index = Index::new([1, 100]);

        index.note(Place { segment: 1, seq: 100, position: 5 * STRIDE });

        let begin = Place { segment: 100, seq: 100, position: FIRST_RECORD };
        assert_eq!(index.below(100), Some(begin));
    }

    #[test]
    fn behind_the_last_entry_of_a_segment_comes_the_segment_that_is_next() {
        let index = Index::new([1, 100, 300]);

        let next = [2, 100, 101, 299, 300, 301].map(|seq| index.segment_from(seq));

        let (second, third) = (Some(100), Some(300));
        assert_eq!(next, [second, second, third, third, third, None]);
    }

    #[test]
    fn a_full_index_forgets_places_but_no_segment() {
        let mut index = Index::new([1]);
        for n in 1..=MAX_BETWEEN as u64 + 1 {
            index.note(Place { segment: 1, seq: n + 1, position: n * STRIDE + FIRST_RECORD });
        }

        assert_eq!(index.between, 1);
        assert_eq!(index.below(5), Some(Place { segment: 1, seq: 1, position: FIRST_RECORD }));
    }
}
