//! Segments follow each other, and the last one knows what a start needs of the others.

use std::fs;

use chancery_shared::wire::journal::Event;

use super::*;
use crate::journal::{JournalState, entries, verify};

#[tokio::test]
async fn a_full_segment_is_followed_by_one_that_sums_up_what_is_open() {
    let home = Home::with_small_segments();
    write(home.open(), [keyring_change(), intent(1), intent(2), signed(2, 1), event(1)]).await;

    let openings: Vec<_> = entries(&home.folder(), 0)
        .map(Result::unwrap)
        .filter(|entry| matches!(entry.event, Event::SegmentOpened { .. }))
        .collect();

    let names: Vec<_> = home.segments().iter().map(|s| s.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, openings_and_first(&openings.iter().map(|e| e.seq).collect::<Vec<_>>()));
    let last = openings.last().unwrap();
    assert_eq!(
        last.event,
        Event::SegmentOpened {
            signer_id: signer_id(),
            open_intents: vec![4],
            last_keyring_change: 1,
            lost_after: None,
        }
    );
    assert!(verify(&home.folder()).is_ok());
}

fn openings_and_first(openings: &[u64]) -> Vec<std::ffi::OsString> {
    [1].iter().chain(openings).map(|seq| segment::name(*seq).into()).collect()
}

#[tokio::test]
async fn open_intents_and_the_last_keyring_change_survive_any_number_of_segments() {
    let home = Home::with_small_segments();
    write(home.open(), [intent(1), keyring_change()]).await;
    for number in 0..5 {
        let (journal, recovered) = home.try_open().unwrap();

        assert_eq!(recovered.open_intents, [1], "start {number}");
        assert_eq!(recovered.last_keyring_change, 2, "start {number}");
        write(journal, [event(number), event(number)]).await;
    }

    write(home.open(), [signed(1, 1)]).await;

    assert_eq!(home.try_open().unwrap().1.open_intents, Vec::<u64>::new());
}

#[tokio::test]
async fn a_start_reads_the_last_segment_alone() {
    let home = Home::with_small_segments();
    write(home.open(), (0..6).map(event)).await;
    let first = &home.segments()[0];
    replace_records(first, &[vec![0xff; 100]]);

    let started = home.try_open();

    assert!(started.is_ok());
    assert!(verify(&home.folder()).is_err());
}

#[tokio::test]
async fn a_segment_that_was_being_made_counts_for_nothing() {
    let home = Home::new();
    write(home.open(), [event(1)]).await;
    let unfinished = home.folder().join("00000000000000000002.journal.new");
    fs::write(&unfinished, b"CHJ").unwrap();

    write(home.open(), [event(2)]).await;

    assert!(!unfinished.exists());
    assert_eq!(verify(&home.folder()).unwrap().head.seq, 2);
}

#[tokio::test]
async fn only_the_signers_user_can_read_the_journal() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::with_small_segments();
    write(home.open(), (0..3).map(event)).await;

    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;

    assert_eq!(mode(home.folder()), 0o700);
    assert!(home.segments().into_iter().all(|segment| mode(segment) == 0o600));
}

#[tokio::test]
async fn a_full_disk_at_a_segments_end_delays_the_next_segment() {
    let home = Home::with_small_segments();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    journal.append(event(1)).await.unwrap();
    journal.append(event(2)).await.unwrap();

    disk.fill();
    let refused = journal.append(event(3)).await;
    disk.make_room();
    let head = journal.append(event(4)).await.unwrap();

    assert!(matches!(refused, Err(JournalError::Unavailable(_))));
    assert_eq!(journal.state(), JournalState::Writable);
    journal.close().await;
    let verified = verify(&home.folder()).unwrap();
    assert_eq!((verified.head, verified.segments), (head, 2));
}

#[tokio::test]
async fn a_ca_certificate_that_was_signed_before_its_segment_ended_is_still_to_be_installed() {
    let home = Home::with_small_segments();
    let Event::Intent(mut asked) = intent(1) else { panic!("an intent") };
    asked.operation = "sign-ca-certificate".to_owned();
    write(home.open(), [Event::Intent(asked)]).await;
    let seq = verify(&home.folder()).unwrap().head.seq;
    write(home.open(), [signed(seq, 1)]).await;
    while home.segments().len() < 2 {
        write(home.open(), [event(1)]).await;
    }

    let (_, recovered) = home.try_open().unwrap();

    assert_eq!(recovered.uninstalled.len(), 1);
}
