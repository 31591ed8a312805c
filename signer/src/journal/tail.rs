//! The end of the chain: what the next entry follows, and what a new segment has to sum up.

use std::collections::BTreeSet;

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::bytes::{Fixed, Hash};
use chancery_shared::id::SignerId;
use chancery_shared::wire::journal::{Entry, Event};

use super::Damage;
use super::gap::Gap;
use super::segment::Header;

/// What all entries so far come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// Whose journal.
    pub(super) signer_id: SignerId,
    /// Number of the last entry; 0 for none.
    pub(super) seq: u64,
    /// Hash of the last entry; zeros for none.
    pub(super) hash: Hash,
    /// Intents without an outcome.
    pub(super) open_intents: BTreeSet<u64>,
    /// The last entry that changed the keyring; 0 for none.
    pub(super) last_keyring_change: u64,
    /// What is missing before the segment that begins here, until the entry after its opening says
    /// that this is accepted.
    pub(super) gap: Option<Gap>,
}

impl Tail {
    /// Of a journal without entries.
    pub(super) fn empty(signer_id: SignerId) -> Self {
        Self {
            signer_id,
            seq: 0,
            hash: Fixed([0; 32]),
            open_intents: BTreeSet::new(),
            last_keyring_change: 0,
            gap: None,
        }
    }

    /// From the first entry of a segment, without the segments before.
    pub(super) fn resume(header: Header, body: &[u8]) -> Result<(Self, Entry), Damage> {
        let entry = parse(body)?;
        let Event::SegmentOpened { open_intents, last_keyring_change, lost_after, .. } =
            &entry.event
        else {
            return Err(Damage::Opening);
        };
        let up_to = header.first_seq.saturating_sub(1);
        let gap = lost_after.map(|after| Gap { after, up_to });
        if gap.is_some_and(|gap| gap.after >= gap.up_to) {
            return Err(Damage::Opening);
        }
        let mut tail = Self {
            signer_id: header.signer_id,
            seq: up_to,
            hash: entry.prev,
            open_intents: open_intents.iter().copied().collect(),
            last_keyring_change: *last_keyring_change,
            gap,
        };
        let entry = tail.follow(body)?;
        Ok((tail, entry))
    }

    /// Goes on in a segment that begins with this number. What it leaves out has to be accepted.
    pub(super) fn enter_segment(&mut self, first_seq: u64) {
        let up_to = first_seq.saturating_sub(1);
        if up_to > self.seq {
            // One that is open already stays: nothing can accept it any more.
            self.gap.get_or_insert(Gap { after: self.seq, up_to });
            self.seq = up_to;
        }
    }

    /// Goes on by one stored entry.
    pub(super) fn follow(&mut self, body: &[u8]) -> Result<Entry, Damage> {
        let entry = parse(body)?;
        let expected = self.seq.saturating_add(1);
        if entry.seq != expected {
            return Err(Damage::Sequence { expected, found: entry.seq });
        }
        if entry.prev != self.hash {
            return Err(Damage::Chain { seq: entry.seq, before: self.hash });
        }
        self.advance(&entry.event, hash_of(body))?;
        Ok(entry)
    }

    /// Goes on by an event whose entry has this hash. On failure nothing has changed.
    pub(super) fn advance(&mut self, event: &Event, hash: Hash) -> Result<(), Damage> {
        self.check_gap(event)?;
        let seq = self.seq.saturating_add(1);
        match event {
            Event::Started { signer_id, .. } | Event::SegmentOpened { signer_id, .. }
                if *signer_id != self.signer_id =>
            {
                return Err(Damage::OtherSigner);
            }
            Event::SegmentOpened { .. } if *event != self.opening() => {
                return Err(Damage::Opening);
            }
            Event::Signed { intent, .. } | Event::Abandoned { intent, .. }
                if !self.open_intents.remove(intent) =>
            {
                return Err(Damage::OutcomeWithoutIntent { intent: *intent });
            }
            Event::Intent(_) => {
                self.open_intents.insert(seq);
            }
            event if changes_keyring(event) => self.last_keyring_change = seq,
            _ => {}
        }
        if !matches!(event, Event::SegmentOpened { .. }) {
            self.gap = None;
        }
        self.seq = seq;
        self.hash = hash;
        Ok(())
    }

    /// Behind a gap stands its opening, then the operator's word; nowhere else are numbers left
    /// out.
    fn check_gap(&self, event: &Event) -> Result<(), Damage> {
        let Some(gap) = self.gap else {
            let asked_for = Gap::asked_for(event, self.signer_id, self.seq);
            return asked_for.map_or(Ok(()), |gap| Err(Damage::NotAbove(gap)));
        };
        let is_accepted = match event {
            Event::SegmentOpened { .. } => self.seq == gap.up_to,
            event => self.seq == gap.opening() && gap.is_accepted_by(event, self.signer_id),
        };
        if is_accepted { Ok(()) } else { Err(Damage::Gap(gap)) }
    }

    /// What a segment begins with that begins here.
    pub(super) fn opening(&self) -> Event {
        Event::SegmentOpened {
            signer_id: self.signer_id,
            open_intents: self.open_intents.iter().copied().collect(),
            last_keyring_change: self.last_keyring_change,
            lost_after: self.gap.map(|gap| gap.after),
        }
    }
}

/// Whether the keyring is another after this event. A new event does not compile until someone
/// decides.
fn changes_keyring(event: &Event) -> bool {
    match event {
        Event::KeyPending { .. }
        | Event::KeyCreated { .. }
        | Event::KeyCreationFailed { .. }
        | Event::CaCertificateInstalled { .. }
        | Event::KeyDisabled(_)
        | Event::KeyEnabled(_)
        | Event::KeyDestroying(_)
        | Event::KeyDestroyed { .. }
        // It keeps the heads that were accepted.
        | Event::JournalAccepted { .. } => true,
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
        | Event::PinRefusalCleared { .. } => false,
    }
}

/// The hash by which the next entry names this one.
pub(crate) fn hash_of(body: &[u8]) -> Hash {
    let mut hash = [0; 32];
    hash.iter_mut().zip(digest(&SHA256, body).as_ref()).for_each(|(to, from)| *to = *from);
    Fixed(hash)
}

fn parse(body: &[u8]) -> Result<Entry, Damage> {
    serde_json::from_slice(body).map_err(Damage::NotAnEntry)
}
