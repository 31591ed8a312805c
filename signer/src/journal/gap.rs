//! Lost entries, and the operator's word for it.
//!
//! A journal that was brought back from an older copy lacks entries that others know. Numbers must
//! not be used twice, so once the operator has accepted the loss, it goes on in a segment that
//! begins above the missing head: first `segment-opened`, which says where the lost ones begin,
//! then the `journal-accepted` that names where they end. Both are made with the file, all or
//! nothing. Whatever else leaves numbers out is damage.

use chancery_shared::id::SignerId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;

/// Numbers without entries: those above `after`, up to `up_to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The last entry before.
    pub after: u64,
    /// The missing head that was accepted.
    pub up_to: u64,
}

impl Gap {
    /// What numbers would be left out between `after` and the entry that `event` makes, by the
    /// operator's word; `None` where it comes to no more than an ordinary entry.
    pub(super) fn asked_for(event: &Event, signer_id: SignerId, after: u64) -> Option<Self> {
        let up_to = accepted(event, signer_id)?.seq;
        (up_to > after).then_some(Self { after, up_to })
    }

    /// Whether this event is the operator's word for exactly this gap.
    pub(super) fn is_accepted_by(self, event: &Event, signer_id: SignerId) -> bool {
        accepted(event, signer_id).is_some_and(|missing| missing.seq == self.up_to)
    }

    /// Whether a journal can have lost so many entries. A head from who knows where must not use
    /// up the numbers.
    pub(super) fn is_plausible(self) -> bool {
        self.up_to.saturating_sub(self.after) <= MAX_LOST
    }

    /// Number of the entry that opens the segment behind the gap.
    pub(super) fn opening(self) -> u64 {
        self.up_to.saturating_add(1)
    }
}

fn accepted(event: &Event, signer_id: SignerId) -> Option<&JournalHead> {
    match event {
        Event::JournalAccepted { missing, .. } if missing.signer_id == signer_id => Some(missing),
        _ => None,
    }
}

/// A thousand entries a second for thirty years.
const MAX_LOST: u64 = 1 << 40;
