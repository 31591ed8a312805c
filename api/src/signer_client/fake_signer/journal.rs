//! The fake's journal: in memory, with the real hash chain.

use chancery_shared::bytes::{Fixed, Hash};
use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::{Entry, Event};
use time::OffsetDateTime;

/// Entries as a signer would store them.
pub(crate) struct FakeJournal {
    pub(crate) signer_id: SignerId,
    pub(crate) entries: Vec<String>,
    /// What the signer's clock shows.
    pub(crate) now: OffsetDateTime,
    last: Hash,
}

impl FakeJournal {
    pub(super) fn new(signer_id: SignerId, now: OffsetDateTime) -> Self {
        let mut journal = Self { signer_id, entries: Vec::new(), now, last: Fixed([0; 32]) };
        let (boot_id, version) = ("boot".to_owned(), "fake".to_owned());
        journal.append(Event::Started { signer_id, boot_id, version });
        journal
    }

    pub(crate) fn append(&mut self, event: Event) -> JournalHead {
        let seq = self.entries.len() as u64 + 1;
        let entry = Entry { seq, time: self.now, prev: self.last, event };
        let json = serde_json::to_string(&entry).unwrap();
        self.last = sha256(json.as_bytes());
        self.entries.push(json);
        self.head()
    }

    pub(crate) fn head(&self) -> JournalHead {
        JournalHead { signer_id: self.signer_id, seq: self.entries.len() as u64, hash: self.last }
    }

    /// At most two entries, so that readers have to go on.
    pub(super) fn read(&self, after: u64) -> Vec<String> {
        self.entries.iter().skip(usize::try_from(after).unwrap()).take(2).cloned().collect()
    }
}

pub(crate) fn sha256(bytes: &[u8]) -> Hash {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    Fixed(digest.as_ref().try_into().unwrap())
}
