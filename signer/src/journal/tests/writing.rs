//! Appending: order, groups, refusals, ends.

use std::fs;

use chancery_shared::bytes::Fixed;
use chancery_shared::wire::journal::{Entry, Event};

use super::*;
use crate::journal::{JournalCounters, MAX_ENTRY, entries, verify};

#[tokio::test]
async fn what_was_appended_is_read_back_in_order_after_a_new_start() {
    let home = Home::new();
    let events = [event(1), intent(1), signed(2, 1), keyring_change()];
    let (journal, recovered) = home.try_open().unwrap();
    write(journal, events.clone()).await;

    let read: Vec<Entry> = entries(&home.folder(), 0).map(Result::unwrap).collect();

    assert_eq!(recovered, Recovered { is_new: true, ..Recovered::default() });
    assert_eq!(read.iter().map(|e| e.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
    assert_eq!(read.into_iter().map(|e| e.event).collect::<Vec<_>>(), events);
}

#[tokio::test]
async fn the_format_on_disk_stays_what_it_is() {
    let home = Home::new();
    write(home.open(), [event(1)]).await;

    let bytes = fs::read(&home.segments()[0]).unwrap();

    let (header, record) = bytes.split_at(HEADER_LEN);
    let (frame, body) = record.split_at(FRAME_LEN);
    assert_eq!(hex::encode(header), GOLDEN_HEADER);
    assert_eq!(hex::encode(frame), GOLDEN_FRAME);
    assert_eq!(String::from_utf8_lossy(body), GOLDEN_BODY);
}

const GOLDEN_HEADER: &str = "43484a524e4c0001010101010101010101010101\
    00000000000000010000000000000000c6a50ac6";
const GOLDEN_FRAME: &str = "800000b9b46d0c39";
const GOLDEN_BODY: &str = concat!(
    r#"{"seq":1,"time":"2027-01-15T08:00:00Z"#,
    r#"","prev":"0000000000000000000000000000000000000000000000000000000000000000","#,
    r#""event":{"pin-refusal-cleared":{"token":"Local Token","operatorUid":1}}}"#,
);

#[tokio::test]
async fn the_head_is_the_last_entry_on_disk_and_the_same_after_a_new_start() {
    let home = Home::new();
    let journal = home.open();
    let before = journal.head();

    let first = journal.append(event(1)).await.unwrap();
    let second = journal.append(event(2)).await.unwrap();
    let head = journal.head();
    journal.close().await;

    assert_eq!((before.seq, before.hash), (0, Fixed([0; 32])));
    assert_eq!((first.seq, second.seq), (1, 2));
    assert_eq!(head, second);
    assert_eq!(home.open().head(), second);
}

#[tokio::test]
async fn a_new_start_says_what_it_found() {
    let home = Home::new();
    write(home.open(), [keyring_change(), intent(1), intent(2), signed(2, 1)]).await;

    let (_journal, recovered) = home.try_open().unwrap();

    assert_eq!(recovered.open_intents, [3]);
    assert_eq!(recovered.last_keyring_change, 1);
    assert_eq!(recovered.last_right.map(OffsetDateTime::unix_timestamp), Some(1_800_000_002));
    assert!(!recovered.is_new && recovered.torn_bytes == 0);
}

#[tokio::test]
async fn entries_that_wait_together_share_one_write_and_one_sync() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.hold_syncs();

    let appends = start_all((0..64).map(|number| journal.append(event(number))));
    disk.release_syncs();
    for append in appends {
        append.await.unwrap();
    }

    let JournalCounters { entries, syncs, .. } = journal.counters();
    assert_eq!(entries, 64);
    assert!(syncs * 8 <= entries, "{syncs} syncs");
    assert_eq!(u64::from(disk.writes()), syncs);
    journal.close().await;
    assert_eq!(verify(&home.folder()).unwrap().head.seq, 64);
}

#[tokio::test]
async fn more_entries_than_may_wait_are_all_written() {
    let home = Home::new();
    let journal = home.open();
    let appends: Vec<_> = (0..1000)
        .map(|number| {
            let journal = journal.clone();
            tokio::spawn(async move { journal.append(event(number)).await.unwrap().seq })
        })
        .collect();

    let mut seqs = Vec::new();
    for append in appends {
        seqs.push(append.await.unwrap());
    }

    seqs.sort_unstable();
    assert_eq!(seqs, (1..=1000).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_entry_that_was_sent_is_written_though_nobody_waits_any_more() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.hold_syncs();

    drop(start_all([journal.append(event(1)), journal.append(event(2))]));
    disk.release_syncs();
    journal.close().await;

    assert_eq!(entries(&home.folder(), 0).count(), 2);
}

#[tokio::test]
async fn an_entry_that_breaks_a_rule_is_refused_and_its_neighbours_are_written() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let long = Event::KeyCreationFailed { key_id: key_id(), reason: "x".repeat(MAX_ENTRY) };
    let other = SignerId::from_bytes([9; 12]);
    let foreign =
        Event::Started { signer_id: other, boot_id: String::new(), version: String::new() };
    let sum = Event::SegmentOpened {
        signer_id: signer_id(),
        open_intents: Vec::new(),
        last_keyring_change: 0,
        lost_after: None,
    };
    let refused = journal.append(sum).await;
    assert!(matches!(refused, Err(JournalError::NotOurs)));

    disk.hold_syncs();
    let events = [event(1), long, foreign, abandoned(1), event(2)];
    let appends = start_all(events.map(|event| journal.append(event)));
    disk.release_syncs();
    let mut answers = Vec::new();
    for append in appends {
        answers.push(append.await.map(|head| head.seq));
    }

    let [Ok(1), Err(long), Err(foreign), Err(unknown), Ok(2)] = &answers[..] else {
        panic!("{answers:?}");
    };
    assert!(matches!(long, JournalError::TooLong { .. }));
    assert!(matches!(foreign, JournalError::NotOurs));
    assert!(matches!(unknown, JournalError::NotOpen { intent: 1 }));
    journal.close().await;
    assert_eq!(verify(&home.folder()).unwrap().head.seq, 2);
}

#[tokio::test]
async fn an_intent_has_one_outcome() {
    let journal = Home::new().open();
    let intent = journal.append(intent(1)).await.unwrap().seq;
    journal.append(signed(intent, 1)).await.unwrap();

    for second in [signed(intent, 1), abandoned(intent)] {
        let refused = journal.append(second).await;

        assert!(matches!(refused, Err(JournalError::NotOpen { intent: 1 })));
    }
}

#[tokio::test]
async fn a_second_signer_can_not_open_the_journal_until_the_first_has_closed_it() {
    let home = Home::new();
    let journal = home.open();

    let second = home.try_open();
    journal.close().await;

    assert!(matches!(second, Err(JournalError::Locked { .. })));
    assert!(home.try_open().is_ok());
}

#[tokio::test]
async fn a_closed_journal_takes_nothing() {
    let journal = Home::new().open();
    let other = journal.clone();

    journal.close().await;

    assert!(matches!(other.append(event(1)).await, Err(JournalError::Closed)));
    assert!(!other.is_writable());
}
