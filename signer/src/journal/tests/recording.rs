//! `CheckedTbs` to `RecordedTbs`.

use chancery_shared::wire::algorithm::SignatureAlgorithm;
use chancery_shared::wire::journal::Event;

use super::*;
use crate::journal::entries;
use crate::policy::{CheckedTbs, fixture};

/// A public key of Ed25519 (RFC 8032, section 7.1, test 1).
const POINT: [u8; 32] = [
    0xd7, 0x5a, 0x98, 0x01, 0x82, 0xb1, 0x0a, 0xb7, 0xd5, 0x4b, 0xfe, 0xd3, 0xc9, 0x64, 0x07, 0x3a,
    0x0e, 0xe1, 0x72, 0xf3, 0xda, 0xa6, 0x23, 0x25, 0xaf, 0x02, 0x1a, 0x68, 0xf7, 0x07, 0x51, 0x1a,
];

fn checked(number: u8) -> CheckedTbs {
    let spki = [&b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70\x03\x21\x00"[..], &POINT].concat();
    fixture::checked_own(key_id(), &spki, SignatureAlgorithm::Ed25519, nonce(number))
}

#[tokio::test]
async fn a_recorded_tbs_is_what_was_checked_and_its_intent_is_on_disk() {
    let home = Home::new();
    let journal = home.open();
    journal.append(event(1)).await.unwrap();
    let tbs = checked(7);
    let intent = Event::Intent(Box::new(Intent {
        operation: tbs.operation().to_owned(),
        key_id: key_id(),
        tbs: Bytes(tbs.der().to_vec()),
        csr: tbs.csr().map(|csr| Bytes(csr.to_vec())),
        serial_nonce: nonce(7),
        approval_id: None,
        context: Context::default(),
    }));
    let (der, serial_number) = (tbs.der().to_vec(), tbs.serial_number());

    let recorded = journal.record(tbs, Context::default(), None).await.unwrap();

    let stored = entries(&home.folder(), 1).next().unwrap().unwrap();
    assert_eq!(stored.event, intent);
    assert_eq!(recorded.head(), journal.head());
    assert_eq!(recorded.key_id(), key_id());
    assert_eq!(recorded.serial_number(), serial_number);
    assert_eq!(recorded.der(), der);
    assert_eq!(recorded.into_parts(), (der, 2));
}

fn abandoned_first(home: &Home) -> usize {
    let events = entries(&home.folder(), 0).map(|entry| entry.unwrap().event);
    events.filter(|event| matches!(event, Event::Abandoned { intent: 1, .. })).count()
}

#[tokio::test]
async fn an_intent_whose_request_went_away_is_closed_as_abandoned() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.hold_syncs();
    let record = start_all([journal.record(checked(1), Context::default(), None)]);
    disk.wait_for_sync();

    drop(record);
    disk.release_syncs();
    // The answer that nobody takes is dropped before the next group is written.
    journal.append(event(1)).await.unwrap();
    journal.append(event(2)).await.unwrap();
    journal.close().await;

    assert_eq!(abandoned_first(&home), 1);
}

#[tokio::test]
async fn an_intent_that_was_answered_and_never_taken_is_closed_as_abandoned() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.hold_syncs();
    let record = start_all([journal.record(checked(1), Context::default(), None)]);
    disk.release_syncs();
    journal.append(event(1)).await.unwrap();

    drop(record);
    journal.close().await;

    assert_eq!(abandoned_first(&home), 1);
}

#[tokio::test]
async fn a_forgotten_intent_that_finds_the_disk_full_is_closed_later() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.hold_syncs();
    let record = start_all([journal.record(checked(1), Context::default(), None)]);
    disk.release_syncs();
    journal.append(event(1)).await.unwrap();

    disk.fill();
    drop(record);
    assert!(journal.append(event(2)).await.is_err());
    disk.make_room();
    journal.append(event(3)).await.unwrap();
    journal.close().await;

    assert_eq!(abandoned_first(&home), 1);
}
