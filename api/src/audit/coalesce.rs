//! Refusals, told together where they repeat: a flood of them must not fill the disk.

use std::collections::HashMap;

use chancery_shared::id::{RowId, UserId};

use crate::store::audit::AuditEntry;

/// User, API token and address.
type Source = (Option<UserId>, Option<RowId>, Option<String>);

/// What repeats.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    source: Source,
    /// Action, kind, result.
    operation: [String; 3],
    /// Id, name, before, after.
    thing: [Option<String>; 4],
}

/// What came within the minute that runs. The first of a kind is told at once, the others together
/// at its end.
#[derive(Debug, Default)]
pub(super) struct Coalescer {
    minute: i64,
    seen: HashMap<Key, Option<AuditEntry>>,
    /// How many keys are of each source.
    sources: HashMap<Source, usize>,
}

impl Coalescer {
    /// What is to be told now that `entry` came.
    pub(super) fn take(&mut self, entry: AuditEntry) -> Vec<AuditEntry> {
        if entry.result == crate::store::audit::OK {
            return vec![entry];
        }
        let minute = entry.happened_at.unix_timestamp().div_euclid(60);
        let mut told = if minute == self.minute { Vec::new() } else { self.end() };
        self.minute = minute;
        let key = self.place(Key::of(&entry));
        let mut entry = key.all_of(entry);
        match self.seen.get_mut(&key) {
            None => {
                self.seen.insert(key, None);
                told.push(entry);
            }
            Some(repeated) => {
                let times = repeated.as_ref().map_or(0, |repeated| repeated.times);
                entry.times = times.saturating_add(1);
                *repeated = Some(entry);
            }
        }
        told
    }

    /// What it is counted with. Whoever sends refusals of ever other things takes the room of nobody
    /// else: their things are no longer told apart.
    fn place(&mut self, mut key: Key) -> Key {
        if self.seen.contains_key(&key) {
            return key;
        }
        let has_room = self.seen.len() < MOST;
        if has_room {
            let of_source = self.sources.entry(key.source.clone()).or_default();
            if *of_source < MOST_OF_SOURCE {
                *of_source += 1;
                return key;
            }
        }
        key.thing = Default::default();
        if !has_room && !self.seen.contains_key(&key) {
            // From more places than anyone would read. There are only so many operations and codes.
            key.source = Source::default();
        }
        key
    }

    /// Ends the minute: what repeated is told, with the last time and how often.
    pub(super) fn end(&mut self) -> Vec<AuditEntry> {
        self.sources.clear();
        let mut repeated: Vec<_> = self.seen.drain().filter_map(|(_, entry)| entry).collect();
        repeated.sort_by_key(|entry| entry.happened_at);
        repeated
    }

    /// Whether something waits for the end of the minute.
    pub(super) fn is_waiting(&self) -> bool {
        !self.seen.is_empty()
    }
}

impl Key {
    fn of(entry: &AuditEntry) -> Self {
        let AuditEntry { object_id, object_name, before, after, .. } = entry;
        let operation = [&entry.action, &entry.object_kind, &entry.result];
        Self {
            source: (entry.user_id, entry.api_token_id, entry.address.clone()),
            operation: operation.map(ToString::to_string),
            thing: [object_id, object_name, before, after].map(Clone::clone),
        }
    }

    /// The entry without what differs among those that are told with it.
    fn all_of(&self, mut entry: AuditEntry) -> AuditEntry {
        [entry.object_id, entry.object_name, entry.before, entry.after] = self.thing.clone();
        if self.source == Source::default() {
            entry.username = None;
        }
        (entry.user_id, entry.api_token_id, entry.address) = self.source.clone();
        entry
    }
}

/// So many refusals are told apart within a minute.
const MOST: usize = 1000;
/// And so many of one user from one address by what they are about.
const MOST_OF_SOURCE: usize = 100;
