//! Refusals, told together where they repeat: a flood of them must not fill the disk.

use std::collections::HashMap;

use crate::store::audit::AuditEntry;

/// What repeats: user, API token, address, kind, action, result, and what it is about.
type Key = [Option<String>; 7];

/// What came within the minute that runs. The first of a kind is told at once, the others together
/// at its end.
#[derive(Debug, Default)]
pub(super) struct Coalescer {
    minute: i64,
    seen: HashMap<Key, Option<AuditEntry>>,
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
        let mut entry = entry;
        let mut key = key(&entry);
        if self.seen.len() >= MOST && !self.seen.contains_key(&key) {
            // From more places than anyone would read.
            key = Key::default();
            entry.user_id = None;
            entry.api_token_id = None;
            entry.username = None;
            entry.address = None;
            entry.object_id = None;
            entry.object_name = None;
        }
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

    /// Ends the minute: what repeated is told, with the last time and how often.
    pub(super) fn end(&mut self) -> Vec<AuditEntry> {
        let mut repeated: Vec<_> = self.seen.drain().filter_map(|(_, entry)| entry).collect();
        repeated.sort_by_key(|entry| entry.happened_at);
        repeated
    }

    /// Whether something waits for the end of the minute.
    pub(super) fn is_waiting(&self) -> bool {
        !self.seen.is_empty()
    }
}

fn key(entry: &AuditEntry) -> Key {
    [
        entry.user_id.map(|id| id.to_string()),
        entry.api_token_id.map(|id| id.to_string()),
        entry.address.clone(),
        Some(entry.object_kind.to_string()),
        Some(entry.action.to_string()),
        Some(entry.result.to_string()),
        entry.object_name.clone(),
    ]
}

/// So many kinds of refusals are told apart within a minute.
const MOST: usize = 1000;
