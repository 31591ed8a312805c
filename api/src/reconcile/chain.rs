//! The journal's hash chain, followed entry by entry.

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::bytes::{Fixed, Hash};
use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;
use serde::Deserialize;
use serde_json::value::RawValue;
use time::OffsetDateTime;

/// One entry: its number, and the hash that the next one names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: Hash,
}

impl Link {
    /// Before the first entry.
    pub(super) const START: Self = Self { seq: 0, hash: Fixed([0; 32]) };
}

/// An entry that stands where it should.
#[derive(Debug)]
pub(super) struct Followed {
    pub(super) link: Link,
    /// The entry before.
    pub(super) prev: Hash,
    pub(super) time: OffsetDateTime,
    /// `None` for a kind that this version does not know: a signer may be newer.
    pub(super) event: Option<Event>,
}

/// What can be wrong with a journal. Nothing below is reconciled until an operator has looked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalFault {
    /// Not an entry at all.
    #[error("what follows entry {after} of the signer's journal is no entry")]
    NotAnEntry {
        /// The last good one.
        after: u64,
    },
    /// Numbers are left out or come again, and no operator has accepted that.
    #[error("entry {found} of the signer's journal stands where entry {expected} should")]
    Sequence {
        /// What should follow.
        expected: u64,
        /// What does.
        found: u64,
    },
    /// The entry names another one before it than the one that stands there.
    #[error("entry {seq} of the signer's journal does not follow the entry before it")]
    Chain {
        /// Which entry.
        seq: u64,
    },
    /// An entry that was known is gone or another, and no operator has accepted that.
    #[error("entry {seq} of the signer's journal is not the one that was there before")]
    Replaced {
        /// Which entry.
        seq: u64,
    },
    /// The journal says that it is another signer's.
    #[error("entry {seq} is of another signer's journal")]
    OtherSigner {
        /// Which entry.
        seq: u64,
    },
}

/// Follows one signer's journal. Numbers without entries pass only where the operator has accepted
/// exactly them: the entry behind the gap says so, or the one after the segment's opening.
#[derive(Debug)]
pub(super) struct Chain {
    signer_id: SignerId,
    /// `None`: the first entry is taken as it comes.
    last: Option<Link>,
    gap: Option<Gap>,
}

/// A gap whose acceptance has to be the next entry.
#[derive(Debug)]
struct Gap {
    before: Link,
    up_to: u64,
}

#[derive(Deserialize)]
struct Stored<'a> {
    seq: u64,
    #[serde(with = "time::serde::rfc3339")]
    time: OffsetDateTime,
    prev: Hash,
    #[serde(borrow)]
    event: &'a RawValue,
}

impl Chain {
    /// Goes on after `last`.
    pub(super) fn after(signer_id: SignerId, last: Link) -> Self {
        Self { signer_id, last: Some(last), gap: None }
    }

    /// Begins with whatever entry comes first.
    pub(super) fn anywhere(signer_id: SignerId) -> Self {
        Self { signer_id, last: None, gap: None }
    }

    /// Goes on by one entry, the exact JSON as stored.
    pub(super) fn follow(&mut self, body: &str) -> Result<Followed, JournalFault> {
        let after = self.last.map_or(0, |last| last.seq);
        let stored: Stored<'_> =
            serde_json::from_str(body).map_err(|_| JournalFault::NotAnEntry { after })?;
        let Stored { seq, time, prev, event } = stored;
        let event: Option<Event> = serde_json::from_str(event.get()).ok();
        self.check_signer(seq, event.as_ref())?;
        if let Some(last) = self.last {
            self.check_number(last, seq, event.as_ref())?;
            if prev != last.hash {
                return Err(JournalFault::Chain { seq });
            }
        }
        let link = Link { seq, hash: hash_of(body) };
        self.last = Some(link);
        Ok(Followed { link, prev, time, event })
    }

    /// The last entry.
    pub(super) fn last(&self) -> Option<Link> {
        self.last
    }

    /// The last entry that no gap depends on.
    pub(super) fn settled(&self) -> Option<Link> {
        self.gap.as_ref().map(|gap| gap.before).or(self.last)
    }

    fn check_number(
        &mut self,
        last: Link,
        seq: u64,
        event: Option<&Event>,
    ) -> Result<(), JournalFault> {
        let expected = last.seq.saturating_add(1);
        let fault = JournalFault::Sequence { expected, found: seq };
        if let Some(gap) = self.gap.take() {
            let is_accepted = self.accepted(event).is_some_and(|lost| lost.seq == gap.up_to);
            if is_accepted && seq == expected {
                return Ok(());
            }
            let (expected, found) = (gap.before.seq.saturating_add(1), gap.up_to.saturating_add(1));
            return Err(JournalFault::Sequence { expected, found });
        }
        if seq == expected {
            return Ok(());
        }
        let up_to = seq.saturating_sub(1);
        match event {
            _ if seq < expected => Err(fault),
            Some(Event::SegmentOpened { .. }) => {
                self.gap = Some(Gap { before: last, up_to });
                Ok(())
            }
            event if self.accepted(event).is_some_and(|lost| lost.seq == up_to) => Ok(()),
            _ => Err(fault),
        }
    }

    fn check_signer(&self, seq: u64, event: Option<&Event>) -> Result<(), JournalFault> {
        match event {
            Some(Event::Started { signer_id, .. } | Event::SegmentOpened { signer_id, .. })
                if *signer_id != self.signer_id =>
            {
                Err(JournalFault::OtherSigner { seq })
            }
            _ => Ok(()),
        }
    }

    /// The head that the operator accepts as lost, where this is the operator's word.
    pub(super) fn accepted(&self, event: Option<&Event>) -> Option<JournalHead> {
        match event {
            Some(Event::JournalAccepted { missing, .. }) if missing.signer_id == self.signer_id => {
                Some(*missing)
            }
            _ => None,
        }
    }
}

/// The hash by which the next entry names this one.
pub(super) fn hash_of(body: &str) -> Hash {
    let mut hash = [0; 32];
    let digest = digest(&SHA256, body.as_bytes());
    hash.iter_mut().zip(digest.as_ref()).for_each(|(to, from)| *to = *from);
    Fixed(hash)
}
