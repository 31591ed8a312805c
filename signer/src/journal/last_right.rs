//! When the clock was right last, as far as the journal knows.
//!
//! Some entries are written whatever the clock shows: a start is one. So their times prove nothing:
//! a signer that was started twice under a wrong clock would hold it against its own first start.

use std::path::Path;

use chancery_shared::wire::journal::{Entry, Event};
use time::OffsetDateTime;

use super::entries::entries;

/// What the entries say of it, in their order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastRight {
    vouched: Option<OffsetDateTime>,
    newest: Option<OffsetDateTime>,
}

impl LastRight {
    pub(super) fn add(&mut self, entry: &Entry) {
        self.newest = self.newest.max(Some(entry.time));
        if is_vouched_for(&entry.event) {
            self.vouched = Some(entry.time);
        }
    }

    /// Of the newest entry that was written under a right clock. Where the last segment has none,
    /// the one before it, which begins with this number, is asked; where neither has one, all count.
    pub(super) fn time(mut self, folder: &Path, before: Option<u64>) -> Option<OffsetDateTime> {
        if self.vouched.is_none()
            && let Some(before) = before
        {
            // What can't be read there is for `verify` to find.
            entries(folder, before.saturating_sub(1)).flatten().for_each(|entry| self.add(&entry));
        }
        self.vouched.or(self.newest)
    }
}

/// Whether the entry is written only after a look at the clock.
fn is_vouched_for(event: &Event) -> bool {
    match event {
        Event::Intent(_)
        | Event::KeyPending { .. }
        | Event::KeyEnabled(_)
        | Event::KeyDestroying(_)
        | Event::Parked { .. }
        | Event::Approved { .. }
        | Event::ClockAccepted { .. } => true,
        Event::Started { .. }
        | Event::SegmentOpened { .. }
        | Event::TornTailCut { .. }
        | Event::KeyCreated { .. }
        | Event::KeyCreationFailed { .. }
        | Event::CaCertificateInstalled { .. }
        | Event::KeyDisabled(_)
        | Event::KeyDestroyed { .. }
        | Event::JournalAccepted { .. }
        | Event::Signed { .. }
        | Event::Abandoned { .. }
        | Event::Refused { .. }
        | Event::RefusalsOmitted { .. }
        | Event::Denied { .. }
        | Event::Sealed { .. }
        | Event::Unsealed { .. }
        | Event::PinRefusalCleared { .. } => false,
    }
}
