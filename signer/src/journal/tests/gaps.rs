//! Numbers go on above a head that the operator accepted as lost.

use std::fs;

use chancery_shared::bytes::Fixed;
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::{Entry, Event};

use super::*;
use crate::journal::tail::hash_of;
use crate::journal::{Gap, entries, verify};

/// A head that this journal never had.
pub(super) fn missing(seq: u64) -> JournalHead {
    JournalHead { signer_id: signer_id(), seq, hash: Fixed([8; 32]) }
}

pub(super) fn accept(missing: JournalHead) -> Event {
    Event::JournalAccepted { missing, operator_uid: 1000 }
}

/// Entries 1 to 3, 8 and 9 behind a lost head 7, 10 and 11 in the same segment.
pub(super) async fn journal_with_a_gap(home: &Home) {
    let events = [keyring_change(), intent(1), event(1), accept(missing(7)), event(2), event(3)];
    write(home.open(), events).await;
}

fn seqs(home: &Home, after: u64) -> Vec<u64> {
    entries(&home.folder(), after).map(|entry| entry.unwrap().seq).collect()
}

#[tokio::test]
async fn numbers_go_on_above_the_head_that_was_accepted_in_a_segment_of_their_own() {
    let home = Home::new();
    let journal = home.open();
    for number in 0..3 {
        journal.append(event(number)).await.unwrap();
    }

    let accepted = journal.append(accept(missing(7))).await.unwrap();
    let next = journal.append(event(4)).await.unwrap();
    journal.close().await;

    assert_eq!((accepted.seq, next.seq), (9, 10));
    assert_eq!(seqs(&home, 0), [1, 2, 3, 8, 9, 10]);
    let written: Vec<Entry> = entries(&home.folder(), 3).map(Result::unwrap).collect();
    assert!(matches!(written[0].event, Event::SegmentOpened { lost_after: Some(3), .. }));
    assert_eq!(written[1].event, accept(missing(7)));
    let verified = verify(&home.folder()).unwrap();
    assert_eq!((verified.head, verified.entries, verified.segments), (next, 6, 2));
    assert_eq!(verified.gaps, [Gap { after: 3, up_to: 7 }]);
}

#[tokio::test]
async fn the_chain_goes_on_from_the_last_entry_before_the_gap() {
    let home = Home::new();
    journal_with_a_gap(&home).await;
    let before = records(&home.segments()[0]).pop().unwrap();

    let opening = entries(&home.folder(), 3).next().unwrap().unwrap();

    assert_eq!(opening.prev, hash_of(&before[FRAME_LEN..]));
}

#[tokio::test]
async fn a_head_that_is_not_above_the_end_or_of_another_signer_leaves_no_gap() {
    let other = JournalHead { signer_id: SignerId::from_bytes([9; 12]), ..missing(7) };
    for missing in [missing(1), missing(2), missing(0), other] {
        let home = Home::new();
        let journal = home.open();
        journal.append(event(1)).await.unwrap();
        journal.append(event(2)).await.unwrap();

        let accepted = journal.append(accept(missing)).await.unwrap();

        journal.close().await;
        assert_eq!(accepted.seq, 3, "{missing:?}");
        let verified = verify(&home.folder()).unwrap();
        assert_eq!((verified.head, verified.gaps), (accepted, vec![]), "{missing:?}");
    }
}

#[tokio::test]
async fn a_journal_without_entries_can_go_on_above_a_gap_too() {
    let home = Home::new();
    write(home.open(), [accept(missing(1)), event(1)]).await;

    let journal = home.open();

    assert_eq!(journal.head().seq, 4);
    assert_eq!(journal.read(0, usize::MAX).unwrap().len(), 3);
    journal.close().await;
    assert_eq!(verify(&home.folder()).unwrap().gaps, [Gap { after: 0, up_to: 1 }]);
}

#[tokio::test]
async fn a_start_behind_a_gap_knows_what_was_before_it() {
    for options in [Home::new().options, Home::with_small_segments().options] {
        let home = Home { options, ..Home::new() };
        let events = [keyring_change(), intent(1), accept(missing(70))];
        write(home.open(), events).await;

        let (journal, recovered) = home.try_open().unwrap();

        let accepted = journal.head();
        assert_eq!(accepted.seq, 72);
        assert_eq!((recovered.open_intents, recovered.torn_bytes), (vec![2], 0));
        assert_eq!(recovered.last_keyring_change, accepted.seq);
        let changes: Vec<_> =
            entries(&home.folder(), accepted.seq - 1).map(|entry| entry.unwrap().event).collect();
        assert_eq!(changes, [accept(missing(70))]);
        write(journal, [signed(2, 1)]).await;
        assert_eq!(verify(&home.folder()).unwrap().signed, 1);
    }
}

#[tokio::test]
async fn there_may_be_several_gaps_and_ordinary_segments_between_them() {
    let home = Home::with_small_segments();
    let events = [event(1), accept(missing(5)), accept(missing(9)), event(2), event(3)];
    let later = [accept(missing(40)), accept(missing(3)), event(4), accept(missing(90)), event(5)];

    write(home.open(), events).await;
    write(home.open(), later).await;

    let gaps = [(1, 5), (7, 9), (15, 40), (46, 90)];
    let verified = verify(&home.folder()).unwrap();
    assert_eq!(verified.gaps, gaps.map(|(after, up_to)| Gap { after, up_to }));
    assert_eq!(seqs(&home, 0).len() as u64, verified.entries);
    assert_eq!(home.open().head(), verified.head);
}

#[tokio::test]
async fn reading_passes_over_a_gap_from_wherever_it_begins() {
    for options in [Home::new().options, Home::with_small_segments().options] {
        let home = Home { options, ..Home::new() };
        journal_with_a_gap(&home).await;
        let journal = home.open();
        let whole = seqs(&home, 0);
        let head = journal.head().seq;

        for after in 0..=head + 1 {
            let above: Vec<_> = whole.iter().copied().filter(|seq| *seq > after).collect();
            let json = journal.read(after, usize::MAX).unwrap();
            let read = json.iter().map(|json| serde_json::from_str::<Entry>(json).unwrap().seq);
            let part = journal.read(after, 0).unwrap();

            assert_eq!(read.collect::<Vec<_>>(), above, "after {after}");
            assert_eq!(part.len(), above.len().min(1), "after {after}");
            assert_eq!(seqs(&home, after), above, "after {after}");
        }
    }
}

#[tokio::test]
async fn a_lost_number_has_no_hash_and_every_head_within_the_gap_is_accounted_for() {
    let home = Home::new();
    journal_with_a_gap(&home).await;
    let journal = home.open();

    let hashes: Vec<_> = (1..=12).map(|seq| journal.entry_hash(seq).unwrap()).collect();
    let known: Vec<_> = (1..=12).map(|seq| journal.accounts_for(&missing(seq)).unwrap()).collect();

    let has_hash: Vec<_> = hashes.iter().map(Option::is_some).collect();
    let lost = 4..=7;
    let has_entry = |seq: &u64| !lost.contains(seq) && *seq <= 11;
    assert_eq!(has_hash, (1..=12).map(|seq| has_entry(&seq)).collect::<Vec<_>>());
    assert_eq!(known, (1..=12).map(|seq| lost.contains(&seq)).collect::<Vec<_>>());
    assert!(journal.accounts_for(&journal.head()).unwrap());
    let other = JournalHead { signer_id: SignerId::from_bytes([9; 12]), ..journal.head() };
    assert!(!journal.accounts_for(&other).unwrap());
}

#[tokio::test]
async fn an_acceptance_keeps_its_place_among_the_entries_that_wait_with_it() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let group = vec![event(2), accept(missing(7)), event(3), accept(missing(8)), event(4)];

    write_group(&journal, &disk, event(1), group).await;
    journal.close().await;

    let written: Vec<_> = entries(&home.folder(), 0).map(Result::unwrap).collect();
    let (seqs, events): (Vec<_>, Vec<_>) = written.into_iter().map(|e| (e.seq, e.event)).unzip();
    assert_eq!(seqs, [1, 2, 8, 9, 10, 11, 12]);
    assert_eq!(events[3..], [accept(missing(7)), event(3), accept(missing(8)), event(4)]);
    assert!(verify(&home.folder()).is_ok());
}

#[tokio::test]
async fn a_head_that_would_use_up_the_numbers_is_not_accepted() {
    let home = Home::new();
    let journal = home.open();
    let head = journal.append(event(1)).await.unwrap();

    for seq in [u64::MAX, u64::MAX - 1, (1 << 40) + 2] {
        let refused = journal.append(accept(missing(seq))).await;

        assert!(matches!(refused, Err(JournalError::Implausible { .. })), "{seq}");
        assert!(!journal.can_have_lost(&missing(seq)), "{seq}");
    }
    assert_eq!(journal.head(), head);
    assert!(journal.can_have_lost(&missing((1 << 40) + 1)));
    let accepted = journal.append(accept(missing((1 << 40) + 1))).await.unwrap();
    assert_eq!(accepted.seq, (1 << 40) + 3);
    assert_eq!(fs::read_dir(home.folder()).unwrap().count(), 2);
}
