//! Checks a whole journal, offline and streaming: every byte, link, serial number and outcome.

use std::collections::BTreeMap;
use std::path::Path;

use chancery_shared::hexadecimal;
use chancery_shared::id::KeyId;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::{Entry, Event, Intent};
use der::asn1::AnyRef;
use der::{Decode as _, SliceReader, Tag, Tagged as _};
use time::OffsetDateTime;

use super::gap::Gap;
use super::log::head;
use super::segment::FIRST_RECORD;
use super::tail::Tail;
use super::walk::{Stored, TornTail, Walk};
use super::{Damage, VerifyError};
use crate::policy::serial_number;

/// What a sound journal comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The last entry. An older copy is sound too: compare this with a head known elsewhere.
    pub head: JournalHead,
    /// Entries read.
    pub entries: u64,
    /// Segments read.
    pub segments: u64,
    /// Entries that are lost, as the operator accepted.
    pub gaps: Vec<Gap>,
    /// Intents whose serial numbers were computed again.
    pub intents: u64,
    /// Intents with a signature.
    pub signed: u64,
    /// Intents without an outcome; the next start closes them.
    pub open_intents: Vec<u64>,
    /// Time of the last entry.
    pub last_time: Option<OffsetDateTime>,
    /// A group at the very end that is not, or not yet, whole.
    pub torn: Option<TornTail>,
}

/// Checks the journal in `folder`, of a running signer too.
///
/// # Errors
///
/// The first break, with its place. Nothing was changed.
pub fn verify(folder: &Path) -> Result<Verified, VerifyError> {
    verify_each(folder, |_, _| {})
}

/// As [`verify`], and shows each sound entry, its number and its JSON as stored, on the way.
///
/// # Errors
///
/// The first break, with its place. The entries before it were shown.
pub fn verify_each(
    folder: &Path,
    mut show: impl FnMut(u64, &[u8]),
) -> Result<Verified, VerifyError> {
    let mut walk = Walk::from(folder, 1)?;
    let mut check = Check::new(Tail::empty(walk.header().signer_id));
    if walk.header().previous != 0 {
        return Err(walk.damaged(0, Damage::Misplaced));
    }
    while let Some(Stored { position, body, .. }) = walk.next()? {
        let first_seq = walk.header().first_seq;
        if position == FIRST_RECORD {
            check.tail.enter_segment(first_seq);
        }
        check.entry(&body, first_seq).map_err(|damage| walk.damaged(position, damage))?;
        show(check.tail.seq, &body);
    }
    Ok(Verified {
        head: head(&check.tail),
        entries: check.entries,
        segments: walk.segments(),
        gaps: check.gaps,
        intents: check.intents,
        signed: check.signed,
        open_intents: check.open.into_keys().collect(),
        last_time: check.last_time,
        torn: walk.torn().cloned(),
    })
}

/// All that has to be remembered from entry to entry.
struct Check {
    tail: Tail,
    open: BTreeMap<u64, Open>,
    entries: u64,
    gaps: Vec<Gap>,
    intents: u64,
    signed: u64,
    last_time: Option<OffsetDateTime>,
}

/// An intent that waits for its outcome.
struct Open {
    key_id: KeyId,
    serial_number: [u8; 20],
}

impl Check {
    fn new(tail: Tail) -> Self {
        Self {
            tail,
            open: BTreeMap::new(),
            entries: 0,
            gaps: Vec::new(),
            intents: 0,
            signed: 0,
            last_time: None,
        }
    }

    fn entry(&mut self, body: &[u8], first_seq: u64) -> Result<(), Damage> {
        let gap = self.tail.gap;
        let Entry { seq, time, event, .. } = self.tail.follow(body)?;
        if self.tail.gap.is_none() {
            self.gaps.extend(gap);
        }
        let opens_segment = seq == first_seq && first_seq > 1;
        if matches!(event, Event::SegmentOpened { .. }) != opens_segment {
            return Err(Damage::Opening);
        }
        self.last_time = Some(time);
        self.entries += 1;
        match event {
            Event::Intent(intent) => {
                let serial_number = computed_serial(&intent)?;
                self.open.insert(seq, Open { key_id: intent.key_id, serial_number });
                self.intents += 1;
            }
            Event::Signed { intent, key_id, serial_number, .. } => {
                let missing = Damage::OutcomeWithoutIntent { intent };
                let open = self.open.remove(&intent).ok_or(missing)?;
                if open.key_id != key_id {
                    return Err(Damage::OtherKey);
                }
                if hexadecimal::encode(open.serial_number) != serial_number {
                    return Err(Damage::Serial);
                }
                self.signed += 1;
            }
            Event::Abandoned { intent, .. } => {
                self.open.remove(&intent);
            }
            _ => {}
        }
        Ok(())
    }
}

/// The serial number that the nonce gives, if the TBS has it.
fn computed_serial(intent: &Intent) -> Result<[u8; 20], Damage> {
    let tbs = intent.tbs.as_slice();
    let computed = serial_number(&intent.serial_nonce, tbs).map_err(Damage::SerialForm)?;
    if stored_serial(tbs).is_ok_and(|stored| stored == computed) {
        Ok(computed)
    } else {
        Err(Damage::Serial)
    }
}

/// The serial number in a TBSCertificate: its second element, after the version (RFC 5280,
/// section 4.1).
fn stored_serial(tbs: &[u8]) -> der::Result<&[u8]> {
    let sequence = AnyRef::from_der(tbs)?;
    sequence.tag().assert_eq(Tag::Sequence)?;
    let mut fields = SliceReader::new(sequence.value())?;
    AnyRef::decode(&mut fields)?;
    let serial = AnyRef::decode(&mut fields)?;
    serial.tag().assert_eq(Tag::Integer)?;
    Ok(serial.value())
}
