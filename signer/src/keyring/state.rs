//! What the journal's entries add up to.

use std::collections::BTreeMap;
use std::sync::Arc;

use chancery_shared::id::KeyId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;

use super::record::{KeyRecord, Life};

/// The keys and what is known of lost entries, up to one entry.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) keys: BTreeMap<KeyId, Arc<KeyRecord>>,
    /// Heads that the operator accepted as lost.
    pub(super) accepted: Vec<JournalHead>,
    /// A head that was seen and that the journal lacks: nothing is signed until it is accepted.
    pub(super) lost: Option<JournalHead>,
    /// The newest entry that is in here.
    pub(super) head: JournalHead,
    /// Grows with each change: tells whether the file has it.
    pub(super) revision: u64,
}

impl State {
    /// Of a journal without entries.
    pub(super) fn before(head: JournalHead) -> Self {
        let (keys, accepted) = (BTreeMap::new(), Vec::new());
        Self { keys, accepted, lost: None, head, revision: 0 }
    }

    /// The entry at `head` takes effect.
    pub(super) fn change(&mut self, event: &Event, head: JournalHead) {
        self.apply(event);
        self.head = head;
        self.revision += 1;
    }

    /// Someone knows a head that the journal lacks. Answers whether that is news.
    pub(super) fn miss(&mut self, known: JournalHead) -> bool {
        // The highest one is the one to be accepted: it covers those below.
        let is_news = self.lost.is_none_or(|lost| lost.seq < known.seq);
        if is_news {
            self.lost = Some(known);
            self.revision += 1;
        }
        is_news
    }

    /// Lets one event take effect. Events that say nothing of keys change nothing.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::KeyPending { key_id, .. } => {
                if let Some(record) = KeyRecord::pending(event) {
                    self.keys.insert(*key_id, Arc::new(record));
                }
            }
            Event::KeyCreated { key_id, spki } => {
                self.update(*key_id, |key| key.created(spki));
            }
            Event::KeyCreationFailed { key_id, .. } => {
                self.keys.remove(key_id);
            }
            Event::CaCertificateInstalled { key_id, chain, .. } => {
                self.update(*key_id, |key| key.installed(chain));
            }
            Event::KeyDisabled(event) => self.update(event.key_id, |key| key.now(Life::Disabled)),
            Event::KeyEnabled(event) => self.update(event.key_id, |key| key.now(Life::Live)),
            Event::KeyDestroying(event) => {
                self.update(event.key_id, |key| key.now(Life::Destroying));
            }
            Event::KeyDestroyed { key_id } => {
                self.update(*key_id, |key| key.now(Life::Destroyed));
            }
            Event::JournalAccepted { missing, .. } => {
                if !self.accepted.contains(missing) {
                    self.accepted.push(*missing);
                }
                // One that was being made when the entries end may have become a CA's key in those
                // that are lost: it is unknown from now on, and nothing unknown is ever destroyed.
                self.keys.retain(|_, key| key.life != Life::Pending);
                // It covers those below.
                self.lost = self
                    .lost
                    .filter(|lost| lost.signer_id != missing.signer_id || lost.seq > missing.seq);
            }
            Event::Started { .. }
            | Event::SegmentOpened { .. }
            | Event::TornTailCut { .. }
            | Event::Intent(_)
            | Event::Signed { .. }
            | Event::Abandoned { .. }
            | Event::Refused { .. }
            | Event::RefusalsOmitted { .. }
            | Event::Parked { .. }
            | Event::Approved { .. }
            | Event::Denied { .. }
            | Event::Sealed { .. }
            | Event::Unsealed { .. }
            | Event::ClockAccepted { .. }
            | Event::PinRefusalCleared { .. } => {}
        }
    }

    fn update(&mut self, key_id: KeyId, change: impl FnOnce(&KeyRecord) -> KeyRecord) {
        if let Some(record) = self.keys.get_mut(&key_id) {
            *record = Arc::new(change(record));
        }
    }
}
