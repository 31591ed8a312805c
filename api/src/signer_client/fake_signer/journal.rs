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
}

impl FakeJournal {
    pub(super) fn new(signer_id: SignerId, now: OffsetDateTime) -> Self {
        let mut journal = Self { signer_id, entries: Vec::new(), now };
        let (boot_id, version) = ("boot".to_owned(), "fake".to_owned());
        journal.append(Event::Started { signer_id, boot_id, version });
        journal
    }

    pub(crate) fn append(&mut self, event: Event) -> JournalHead {
        self.append_as(self.head().seq + 1, event)
    }

    /// Goes on above `missing`, as a signer does once its operator has accepted the loss.
    pub(crate) fn accept(&mut self, missing: JournalHead) -> JournalHead {
        let accepted = Event::JournalAccepted { missing, operator_uid: 0 };
        if missing.seq <= self.head().seq {
            return self.append(accepted);
        }
        let opened = Event::SegmentOpened {
            signer_id: self.signer_id,
            open_intents: Vec::new(),
            last_keyring_change: 0,
            lost_after: Some(self.head().seq),
        };
        self.append_as(missing.seq + 1, opened);
        self.append(accepted)
    }

    /// Becomes the copy that was made after entry `seq`.
    pub(crate) fn restore_copy_of(&mut self, seq: u64) {
        self.entries.retain(|json| number(json) <= seq);
    }

    pub(crate) fn append_as(&mut self, seq: u64, event: Event) -> JournalHead {
        let entry = Entry { seq, time: self.now, prev: self.head().hash, event };
        self.entries.push(serde_json::to_string(&entry).unwrap());
        self.head()
    }

    pub(crate) fn head(&self) -> JournalHead {
        let (seq, hash) = match self.entries.last() {
            Some(json) => (number(json), sha256(json.as_bytes())),
            None => (0, Fixed([0; 32])),
        };
        JournalHead { signer_id: self.signer_id, seq, hash }
    }

    /// At most two entries, so that readers have to go on.
    pub(super) fn read(&self, after: u64) -> Vec<String> {
        let above = self.entries.iter().filter(|json| number(json) > after);
        above.take(2).cloned().collect()
    }
}

/// Entries begin with their number.
fn number(json: &str) -> u64 {
    let digits = json.strip_prefix("{\"seq\":").and_then(|rest| rest.split(',').next());
    digits.unwrap().parse().unwrap()
}

pub(crate) fn sha256(bytes: &[u8]) -> Hash {
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, bytes);
    Fixed(digest.as_ref().try_into().unwrap())
}
