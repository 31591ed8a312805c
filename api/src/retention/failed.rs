//! Which items could not be purged when it was tried last: the others come first.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Items;
use crate::store::retention::ItemId;

/// What this process has tried in vain, and in which order.
#[derive(Debug, Default)]
pub struct Failed(Mutex<Tries>);

#[derive(Debug, Default)]
struct Tries {
    count: u64,
    failed: HashMap<ItemId, u64>,
}

impl Failed {
    /// The items in the order in which they are tried: those that have not failed as they come, then
    /// the others, the one that failed longest ago first. What one stands on comes after it: before
    /// that it can't go. What is not among them is forgotten.
    pub(super) fn put_failed_last(&self, items: &Items, mut due: Vec<ItemId>) -> Vec<ItemId> {
        let failed = &mut self.0.lock().unwrap_or_else(PoisonError::into_inner).failed;
        failed.retain(|id, _| due.contains(id));
        due.sort_by_cached_key(|id| {
            let on_it = items.below(*id).into_iter().map(|item| item.id);
            on_it.chain([*id]).filter_map(|id| failed.get(&id).copied()).max().unwrap_or_default()
        });
        due
    }

    /// It was tried in vain.
    pub(super) fn add(&self, id: ItemId) {
        let mut tries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tries.count += 1;
        let count = tries.count;
        tries.failed.insert(id, count);
    }
}
