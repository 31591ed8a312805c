//! What the writer lets everyone know: where the journal stands, and how it is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use chancery_shared::wire::JournalHead;
use tokio::sync::watch;

use super::index::{Index, Place};
use super::log::Committed;

/// Whether the journal takes entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JournalState {
    /// The last write succeeded.
    Writable,
    /// The last write failed. The next entry is tried all the same, and without one the journal
    /// looks by itself.
    Unavailable,
    /// The disk did not confirm a write: nothing more is written, the process must end.
    Poisoned,
    /// Closed in order.
    Closed,
}

/// What the writer has done since the journal was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JournalCounters {
    /// Entries on disk.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Groups, each with one write and one sync.
    pub syncs: u64,
    /// Segments begun.
    pub segments: u64,
    /// Groups that the disk refused.
    pub failures: u64,
}

/// Shared by the writer and all handles.
#[derive(Debug)]
pub(super) struct Published {
    pub(super) folder: PathBuf,
    pub(super) state: watch::Sender<JournalState>,
    head: Mutex<JournalHead>,
    index: Mutex<Index>,
    entries: AtomicU64,
    bytes: AtomicU64,
    syncs: AtomicU64,
    segments: AtomicU64,
    failures: AtomicU64,
}

impl Published {
    pub(super) fn new(folder: PathBuf, head: JournalHead, index: Index) -> Self {
        Self {
            folder,
            state: watch::Sender::new(JournalState::Writable),
            head: Mutex::new(head),
            index: Mutex::new(index),
            entries: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            syncs: AtomicU64::new(0),
            segments: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        }
    }

    /// A group is on disk: from now on it can be read.
    pub(super) fn committed(&self, group: Committed, head: JournalHead) {
        let Place { segment, seq, .. } = group.place;
        if segment == seq {
            self.index().add_segment(segment);
            self.segments.fetch_add(1, Ordering::Relaxed);
        } else {
            self.index().note(group.place);
        }
        self.entries.fetch_add(group.entries, Ordering::Relaxed);
        self.bytes.fetch_add(group.bytes, Ordering::Relaxed);
        self.syncs.fetch_add(1, Ordering::Relaxed);
        *lock(&self.head) = head;
    }

    /// The disk refused a group.
    pub(super) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// The last entry on disk.
    pub(super) fn head(&self) -> JournalHead {
        *lock(&self.head)
    }

    pub(super) fn index(&self) -> MutexGuard<'_, Index> {
        lock(&self.index)
    }

    pub(super) fn counters(&self) -> JournalCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        JournalCounters {
            entries: read(&self.entries),
            bytes: read(&self.bytes),
            syncs: read(&self.syncs),
            segments: read(&self.segments),
            failures: read(&self.failures),
        }
    }
}

/// What these locks protect is whole after every statement, so a panic elsewhere spoils nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
