//! The journal's tests: one file per promise, what they share here.

mod arbitrary;
mod damage;
mod decided;
mod faults;
mod faulty_disk;
mod forged_gaps;
mod gaps;
mod last_right;
mod meaning;
mod reading;
mod recording;
mod rotation;
mod tearing;
mod writing;

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use chancery_shared::bytes::{Bytes, Fixed, SerialNonce};
use chancery_shared::id::{KeyId, SignerId};
use chancery_shared::wire::Context;
use chancery_shared::wire::journal::{Event, Intent};
use tempfile::TempDir;
use time::OffsetDateTime;

use self::faulty_disk::FaultyDisk;
use super::record::{FRAME_LEN, Frame};
use super::segment::{self, HEADER_LEN};
use super::{Journal, JournalError, Options, Recovered};
use crate::clock::Clock;
use crate::policy::serial_number;

/// Moves one second at each look.
#[derive(Default)]
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> OffsetDateTime {
        let seconds = self.0.fetch_add(1, Ordering::Relaxed);
        OffsetDateTime::from_unix_timestamp(1_800_000_000 + seconds).unwrap()
    }

    fn since_boot(&self) -> Duration {
        Duration::ZERO
    }
}

/// A journal's folder, gone with the test.
struct Home {
    root: TempDir,
    options: Options,
}

impl Home {
    fn new() -> Self {
        Self { root: TempDir::new().unwrap(), options: Options::default() }
    }

    /// The first segment has two entries, each other one its opening and one more.
    fn with_small_segments() -> Self {
        Self { options: Options { segment_bytes: 1, ..Options::default() }, ..Self::new() }
    }

    fn folder(&self) -> PathBuf {
        self.root.path().join("journal")
    }

    fn try_open(&self) -> Result<(Journal, Recovered), JournalError> {
        let clock = Arc::new(TickingClock::default());
        Journal::open(&self.folder(), self.options, clock, signer_id())
    }

    fn open(&self) -> Journal {
        self.try_open().unwrap().0
    }

    fn open_on(&self, disk: &FaultyDisk) -> Journal {
        let clock = Arc::new(TickingClock::default());
        let look_every = Duration::from_millis(1);
        let (folder, disk) = (self.folder(), disk.clone());
        let storage = |folder| disk.over(folder);
        let opened =
            Journal::open_on(&folder, storage, self.options, look_every, clock, signer_id());
        opened.unwrap().0
    }

    fn segments(&self) -> Vec<PathBuf> {
        let names = segment::list(&self.folder()).unwrap().into_iter().map(segment::name);
        names.map(|name| self.folder().join(name)).collect()
    }
}

fn signer_id() -> SignerId {
    SignerId::from_bytes([1; 12])
}

fn key_id() -> KeyId {
    KeyId::from_bytes([2; 12])
}

/// An event without consequences, told apart by its number.
fn event(number: u32) -> Event {
    Event::PinRefusalCleared { token: "Local Token".to_owned(), operator_uid: number }
}

fn keyring_change() -> Event {
    Event::KeyCreated { key_id: key_id(), spki: Bytes(vec![3; 44]) }
}

fn nonce(number: u8) -> SerialNonce {
    Fixed([number; 40])
}

/// The intent to sign the TBS of this number.
fn intent(number: u8) -> Event {
    Event::Intent(Box::new(Intent {
        operation: "sign-certificate".to_owned(),
        key_id: key_id(),
        tbs: Bytes(tbs(number)),
        csr: None,
        serial_nonce: nonce(number),
        approval_id: None,
        context: Context::default(),
    }))
}

fn signed(intent: u64, number: u8) -> Event {
    let serial = serial_number(&nonce(number), &tbs(number)).unwrap();
    Event::Signed {
        intent,
        key_id: key_id(),
        serial_number: hex::encode(serial),
        signature: Bytes(vec![5; 64]),
    }
}

fn abandoned(intent: u64) -> Event {
    Event::Abandoned { intent, reason: "the token was away".to_owned() }
}

/// A TBSCertificate with a serial made from the nonce of this number: v3, Ed25519, issuer and
/// subject CN=A, valid in 2026, without extensions.
fn tbs(number: u8) -> Vec<u8> {
    let serial = serial_number(&nonce(number), &tbs_with_serial([0x40; 20])).unwrap();
    tbs_with_serial(serial)
}

fn tbs_with_serial(serial: [u8; 20]) -> Vec<u8> {
    let name = b"\x30\x0c\x31\x0a\x30\x08\x06\x03\x55\x04\x03\x0c\x01A";
    let fields = [
        &b"\xa0\x03\x02\x01\x02\x02\x14"[..],
        &serial,
        b"\x30\x05\x06\x03\x2b\x65\x70",
        name,
        b"\x30\x1e\x17\x0d260101000000Z\x17\x0d261231000000Z",
        name,
        b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00",
        &[6; 32],
    ]
    .concat();
    [&[0x30, 0x81, u8::try_from(fields.len()).unwrap()], &fields[..]].concat()
}

/// Appends the events, each in a group of its own, and closes the journal.
async fn write(journal: Journal, events: impl IntoIterator<Item = Event>) {
    for event in events {
        journal.append(event).await.unwrap();
    }
    journal.close().await;
}

/// Runs all up to their first wait: what they send is in the writer's queue then. Hold the disk's
/// syncs first, or the writer may be done before it is looked at.
fn start_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<Pin<Box<F>>> {
    let mut started: Vec<_> = futures.into_iter().map(Box::pin).collect();
    for future in &mut started {
        let polled = future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop()));
        assert!(matches!(polled, Poll::Pending), "nothing is answered before it is on disk");
    }
    started
}

/// Appends all events as one group behind `first`, which is in a group of its own.
async fn write_group(journal: &Journal, disk: &FaultyDisk, first: Event, group: Vec<Event>) {
    disk.hold_syncs();
    let first = start_all([journal.append(first)]);
    disk.wait_for_sync();
    let group = start_all(group.into_iter().map(|event| journal.append(event)));
    disk.release_syncs();
    for append in first.into_iter().chain(group) {
        append.await.unwrap();
    }
}

/// The records of a segment, each with its frame.
fn records(file: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(file).unwrap();
    let (mut rest, mut records) = (&bytes[HEADER_LEN..], Vec::new());
    while let Some(frame) = rest.first_chunk::<FRAME_LEN>() {
        let (record, others) = rest.split_at(FRAME_LEN + Frame::decode(*frame).unwrap().body_len);
        records.push(record.to_vec());
        rest = others;
    }
    records
}

/// Puts these records into the segment instead of its own.
fn replace_records(file: &Path, records: &[Vec<u8>]) {
    let mut bytes = std::fs::read(file).unwrap();
    bytes.truncate(HEADER_LEN);
    bytes.extend(records.concat());
    std::fs::write(file, bytes).unwrap();
}
