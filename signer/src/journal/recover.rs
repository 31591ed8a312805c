//! The start: reads the last segment, and finds the end of the journal.

use std::collections::BTreeMap;
use std::path::Path;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::SignerId;
use chancery_shared::wire::journal::{Entry, Event, Intent};
use time::OffsetDateTime;

use super::entries::entries;
use super::index::{Index, Place};
use super::last_right::LastRight;
use super::segment::{self, FIRST_RECORD, Header};
use super::segment_reader::{Next, SegmentReader};
use super::storage::{Folder, Storage as _, WriteError};
use super::tail::Tail;
use super::tear::{Judgement, judge};
use super::{Damage, JournalError, ReadError};

/// What the last segment says about the time before this start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovered {
    /// Intents without an outcome, of all segments. None of them left the machine.
    pub open_intents: Vec<u64>,
    /// The last entry of the whole journal that changed the keyring; 0 for none. A keyring that
    /// stands before it has to read [`entries`](super::entries()).
    pub last_keyring_change: u64,
    /// CA certificates of the last two segments that were signed and not installed since, oldest
    /// first. Most are of keys outside this signer; of its own, the start finishes the install.
    pub uninstalled: Vec<SignedCa>,
    /// Bytes of a torn group that were cut off; 0 for none.
    pub torn_bytes: u64,
    /// When the clock was right last, as far as the journal knows.
    pub last_right: Option<OffsetDateTime>,
    /// Whether the journal begins with this start.
    pub is_new: bool,
}

/// A CA certificate that has its signature.
#[derive(Clone, Debug, PartialEq)]
pub struct SignedCa {
    /// What was asked for.
    pub intent: Intent,
    /// Content of the BIT STRING.
    pub signature: Bytes,
}

/// Where the journal ends, and what it comes to.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) recovered: Recovered,
    pub(super) tail: Tail,
    /// Where the segments and the entries of the last one begin.
    pub(super) index: Index,
    /// First entry of the last segment, which is open.
    pub(super) segment: u64,
    /// Where its last record ends.
    pub(super) length: u64,
}

/// Finds the end of the journal in the locked folder, or begins a journal.
pub(super) fn recover(
    folder: &Folder,
    path: &Path,
    new_signer_id: SignerId,
) -> Result<Found, JournalError> {
    folder.remove_unfinished()?;
    let segments = segment::list(path)?;
    let Some(last) = segments.last().copied() else { return begin(folder, path, new_signer_id) };
    folder.settle(&segment::name(last))?;
    let mut reader = SegmentReader::open(path, last)?;
    check_neighbour(&reader, &segments)?;

    let mut tail = (last == 1).then(|| Tail::empty(reader.header().signer_id));
    let mut summary = Summary::default();
    let before = segments.iter().rev().nth(1).copied();
    if let Some(before) = before {
        summary.look_back(path, before, last);
    }
    let mut index = Index::new(segments);
    let length = loop {
        match reader.next()? {
            Next::Record { position, body } => {
                let entry = step(&mut tail, reader.header(), &body)
                    .map_err(|damage| reader.damaged(position, damage))?;
                index.note(Place { segment: last, seq: entry.seq, position });
                summary.add(&entry);
            }
            Next::End => break reader.position(),
            Next::Broken { position } => {
                let rest = reader.rest(position)?;
                match judge(&rest, position) {
                    Judgement::Whole => {}
                    // A segment is named only once its opening is in it, and the operator's word
                    // for a gap.
                    Judgement::Torn if tail.as_ref().is_some_and(|tail| tail.gap.is_none()) => {
                        cut(folder, path, last, position)?;
                        summary.recovered.torn_bytes = rest.len() as u64;
                        break position;
                    }
                    Judgement::Torn | Judgement::Damaged => {
                        return Err(reader.damaged(position, Damage::Checksum).into());
                    }
                }
            }
        }
    };
    let tail = tail.ok_or_else(|| reader.damaged(FIRST_RECORD, Damage::Opening))?;
    if let Some(gap) = tail.gap {
        return Err(reader.damaged(length, Damage::Gap(gap)).into());
    }
    let recovered = Recovered {
        open_intents: tail.open_intents.iter().copied().collect(),
        last_keyring_change: tail.last_keyring_change,
        last_right: summary.last_right.time(path, before),
        ..summary.recovered
    };
    Ok(Found { recovered, tail, index, segment: last, length })
}

fn begin(folder: &Folder, path: &Path, signer_id: SignerId) -> Result<Found, JournalError> {
    let header = Header { signer_id, first_seq: 1, previous: 0 };
    folder.create(&segment::name(1), &header.encode()).map_err(|error| match error {
        WriteError::NotWritten(source) => JournalError::Folder { folder: path.to_owned(), source },
        WriteError::NotSynced(_) => JournalError::SyncFailed,
    })?;
    Ok(Found {
        recovered: Recovered { is_new: true, ..Recovered::default() },
        tail: Tail::empty(signer_id),
        index: Index::new([1]),
        segment: 1,
        length: FIRST_RECORD,
    })
}

/// Goes on by one entry of the last segment.
fn step(tail: &mut Option<Tail>, header: Header, body: &[u8]) -> Result<Entry, Damage> {
    let Some(tail) = tail else {
        let (resumed, entry) = Tail::resume(header, body)?;
        *tail = Some(resumed);
        return Ok(entry);
    };
    let entry = tail.follow(body)?;
    if matches!(entry.event, Event::SegmentOpened { .. }) {
        return Err(Damage::Opening);
    }
    Ok(entry)
}

/// The last segment names the one before it; the first must be there too. What lies between is
/// for `verify` to find.
fn check_neighbour(last: &SegmentReader, segments: &[u64]) -> Result<(), ReadError> {
    let before = segments.iter().rev().nth(1).copied().unwrap_or(0);
    let named = last.header().previous;
    let damage = match segments.first() {
        Some(1) if before == named => return Ok(()),
        Some(1) if !segments.contains(&named) => Damage::MissingSegment { first_seq: named },
        Some(1) => Damage::Misplaced,
        _ => Damage::MissingSegment { first_seq: 1 },
    };
    Err(last.damaged(0, damage))
}

fn cut(folder: &Folder, path: &Path, segment: u64, length: u64) -> Result<(), ReadError> {
    let name = segment::name(segment);
    let cut = || {
        let mut file = folder.open(&name)?;
        file.truncate(length)?;
        file.sync()
    };
    cut().map_err(|error| ReadError::file(&path.join(&name), error))
}

#[derive(Debug, Default)]
struct Summary {
    recovered: Recovered,
    last_right: LastRight,
    ca_intents: BTreeMap<u64, Intent>,
}

impl Summary {
    /// A CA certificate may be signed at the end of one segment and installed, or not, in the next.
    fn look_back(&mut self, folder: &Path, before: u64, last: u64) {
        // What can't be read there is for `verify` to find.
        let readable = entries(folder, before.saturating_sub(1)).map_while(Result::ok);
        for entry in readable.take_while(|entry| entry.seq < last) {
            self.follow_cas(&entry);
        }
    }

    fn add(&mut self, entry: &Entry) {
        self.last_right.add(entry);
        self.follow_cas(entry);
    }

    fn follow_cas(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Intent(intent) if intent.operation != "sign-certificate" => {
                self.ca_intents.insert(entry.seq, Intent::clone(intent));
            }
            Event::Signed { intent, signature, .. } => {
                if let Some(intent) = self.ca_intents.remove(intent) {
                    let signature = signature.clone();
                    self.recovered.uninstalled.push(SignedCa { intent, signature });
                }
            }
            Event::Abandoned { intent, .. } => {
                self.ca_intents.remove(intent);
            }
            Event::CaCertificateInstalled { chain, .. } => {
                // The certificate begins with the very bytes that were signed.
                let is_in = |ca: &SignedCa| {
                    let tbs = ca.intent.tbs.as_slice();
                    chain.first().is_some_and(|own| holds(own.as_slice(), tbs))
                };
                self.recovered.uninstalled.retain(|ca| !is_in(ca));
            }
            _ => {}
        }
    }
}

/// Whether the DER of a certificate has that TBS: it stands at once behind the outer header, which
/// has 2 to 4 bytes.
fn holds(certificate: &[u8], tbs: &[u8]) -> bool {
    (2..=4).any(|header| certificate.get(header..).is_some_and(|rest| rest.starts_with(tbs)))
}
