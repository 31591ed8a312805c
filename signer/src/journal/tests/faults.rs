//! A disk that is full, and a disk that lies.

use super::gaps::{accept, missing};
use super::*;
use crate::journal::{Gap, JournalState, entries, verify};

#[tokio::test]
async fn a_full_disk_answers_unavailable_and_the_next_entry_is_tried() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    journal.append(event(1)).await.unwrap();

    disk.fill();
    for _ in 0..3 {
        assert!(matches!(journal.append(event(2)).await, Err(JournalError::Unavailable(_))));
        assert!(!journal.is_writable());
    }
    disk.make_room();
    let head = journal.append(event(3)).await.unwrap();

    assert_eq!(head.seq, 2);
    assert!(journal.is_writable());
    assert_eq!(journal.counters().failures, 3);
    journal.close().await;
    assert_eq!(verify(&home.folder()).unwrap().torn, None);
}

#[tokio::test]
async fn half_a_group_that_could_not_be_cut_off_is_cut_off_before_the_next() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    journal.append(event(1)).await.unwrap();

    disk.fill();
    disk.keep_length();
    assert!(matches!(journal.append(event(2)).await, Err(JournalError::Unavailable(_))));
    disk.make_room();
    let still = journal.append(event(3)).await;
    disk.allow_cuts();
    let head = journal.append(event(4)).await.unwrap();

    assert!(matches!(still, Err(JournalError::Unavailable(_))));
    journal.close().await;
    let verified = verify(&home.folder()).unwrap();
    assert_eq!((verified.head, verified.torn), (head, None));
}

#[tokio::test]
async fn half_a_group_that_a_crash_left_is_cut_off_at_the_next_start() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let head = journal.append(event(1)).await.unwrap();

    disk.fill();
    disk.keep_length();
    assert!(journal.append(event(2)).await.is_err());
    journal.close().await;
    let torn = verify(&home.folder()).unwrap().torn.unwrap();
    let (reopened, recovered) = home.try_open().unwrap();

    assert_eq!(recovered.torn_bytes, torn.bytes);
    assert_eq!(reopened.head(), head);
    assert_eq!(verify(&home.folder()).unwrap().torn, None);
}

#[tokio::test]
async fn the_journal_looks_by_itself_whether_there_is_room_again() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.fill();
    assert!(journal.append(event(1)).await.is_err());

    disk.make_room();
    let mut state = journal.watch();
    state.wait_for(|state| *state == JournalState::Writable).await.unwrap();

    assert_eq!(journal.head().seq, 0);
    assert!(!home.folder().join("room.new").exists());
}

#[tokio::test]
async fn an_outcome_that_found_the_disk_full_may_be_appended_again() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let intent = journal.append(intent(1)).await.unwrap().seq;
    disk.fill();
    assert!(journal.append(signed(intent, 1)).await.is_err());

    disk.make_room();
    journal.append(signed(intent, 1)).await.unwrap();

    journal.close().await;
    assert_eq!(verify(&home.folder()).unwrap().signed, 1);
}

#[tokio::test]
async fn after_a_sync_that_failed_nothing_is_written_any_more() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let head = journal.append(event(1)).await.unwrap();
    disk.lose_pages();

    let failed = journal.append(event(2)).await;
    let writes = disk.writes();
    let after = journal.append(event(3)).await;
    journal.poisoned().await;

    assert!(matches!(failed, Err(JournalError::SyncFailed)));
    assert!(matches!(after, Err(JournalError::SyncFailed)));
    assert_eq!(disk.writes(), writes);
    assert_eq!(journal.head(), head);
    assert_eq!(journal.state(), JournalState::Poisoned);
    journal.close().await;
    assert!(home.try_open().is_ok());
}

#[tokio::test]
async fn a_sync_that_failed_at_a_segments_beginning_poisons_too() {
    let home = Home::with_small_segments();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    journal.append(event(1)).await.unwrap();
    journal.append(event(2)).await.unwrap();
    disk.lose_pages();

    let failed = journal.append(event(3)).await;

    assert!(matches!(failed, Err(JournalError::SyncFailed)));
    journal.poisoned().await;
    journal.close().await;
    assert_eq!(entries(&home.folder(), 0).count(), 2);
}

#[tokio::test]
async fn an_acceptance_that_finds_the_disk_full_changes_nothing() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    journal.append(event(1)).await.unwrap();

    disk.fill();
    let refused = journal.append(accept(missing(7))).await;
    let state = journal.state();
    disk.make_room();
    let next = journal.append(event(2)).await.unwrap();
    let accepted = journal.append(accept(missing(7))).await.unwrap();

    assert!(matches!(refused, Err(JournalError::Unavailable(_))));
    assert_eq!(state, JournalState::Unavailable);
    assert_eq!((next.seq, accepted.seq), (2, 9));
    assert_eq!(journal.state(), JournalState::Writable);
    journal.close().await;
    assert_eq!(verify(&home.folder()).unwrap().gaps, [Gap { after: 2, up_to: 7 }]);
}

#[tokio::test]
async fn half_a_group_is_cut_off_before_the_segment_above_the_gap_begins() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    journal.append(event(1)).await.unwrap();
    disk.fill();
    disk.keep_length();
    assert!(journal.append(event(2)).await.is_err());

    disk.make_room();
    let still = journal.append(accept(missing(7))).await;
    disk.allow_cuts();
    journal.append(accept(missing(7))).await.unwrap();
    journal.close().await;

    assert!(matches!(still, Err(JournalError::Unavailable(_))));
    assert_eq!(verify(&home.folder()).unwrap().gaps, [Gap { after: 1, up_to: 7 }]);
}

#[tokio::test]
async fn a_sync_that_failed_at_an_acceptance_poisons() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let head = journal.append(event(1)).await.unwrap();
    disk.lose_pages();

    let failed = journal.append(accept(missing(7))).await;
    let after = journal.append(accept(missing(7))).await;

    assert!(matches!(failed, Err(JournalError::SyncFailed)));
    assert!(matches!(after, Err(JournalError::SyncFailed)));
    assert_eq!(journal.head(), head);
    assert_eq!(home.segments().len(), 1);
}
