//! Reading by number, while the journal is open.

use std::sync::Barrier;
use std::sync::atomic::AtomicUsize;
use std::thread;

use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Entry;

use super::*;
use crate::journal::handle::READERS;
use crate::journal::tail::hash_of;
use crate::journal::{entries, verify};

async fn journal_of(home: &Home, events: u32) -> Journal {
    let journal = home.open();
    for number in 0..events {
        journal.append(event(number)).await.unwrap();
    }
    journal
}

fn seqs(entries: &[String]) -> Vec<u64> {
    entries.iter().map(|json| serde_json::from_str::<Entry>(json).unwrap().seq).collect()
}

#[tokio::test]
async fn reading_goes_on_after_any_entry_and_over_segments() {
    let home = Home::with_small_segments();
    let journal = journal_of(&home, 9).await;
    let head = journal.head().seq;

    for after in 0..head {
        let read = journal.read(after, usize::MAX).unwrap();

        assert_eq!(seqs(&read), (after + 1..=head).collect::<Vec<_>>(), "after {after}");
    }
}

#[tokio::test]
async fn at_and_beyond_the_head_there_is_nothing_to_read() {
    let home = Home::new();
    let journal = journal_of(&home, 3).await;

    for after in [3, 4, u64::MAX] {
        assert_eq!(journal.read(after, 1000).unwrap(), Vec::<String>::new(), "after {after}");
    }
}

#[tokio::test]
async fn a_part_keeps_to_its_budget_but_has_at_least_one_entry() {
    let home = Home::with_small_segments();
    let journal = journal_of(&home, 9).await;
    let carried = |part: &[String]| serde_json::to_string(part).unwrap().len();
    let one = carried(&journal.read(0, 0).unwrap());

    for budget in [0, 1, one, 2 * one, 5 * one] {
        let part = journal.read(0, budget).unwrap();

        assert!(part.len() == 1 || carried(&part) <= budget + 2, "budget {budget}");
        assert!(part.len() * one * 2 > budget, "budget {budget} is used");
    }
}

#[tokio::test]
async fn part_by_part_one_gets_the_whole_journal() {
    let home = Home::with_small_segments();
    let journal = journal_of(&home, 20).await;
    let mut read = Vec::new();

    loop {
        let part = journal.read(read.len() as u64, 700).unwrap();
        if part.is_empty() {
            break;
        }
        read.extend(part);
    }

    let whole: Vec<_> = entries(&home.folder(), 0).map(Result::unwrap).collect();
    let read: Vec<Entry> = read.iter().map(|json| serde_json::from_str(json).unwrap()).collect();
    assert_eq!(read, whole);
}

#[tokio::test]
async fn the_hash_of_an_entry_is_what_its_successor_names() {
    let home = Home::with_small_segments();
    drop(journal_of(&home, 5).await);
    let journal = loop {
        // The writer lets go of the folder soon after the last handle.
        if let Ok((journal, _)) = home.try_open() {
            break journal;
        }
        tokio::task::yield_now().await;
    };

    for entry in entries(&home.folder(), 1) {
        let entry = entry.unwrap();
        assert_eq!(journal.entry_hash(entry.seq - 1).unwrap(), Some(entry.prev));
    }
    let head = journal.head();
    let json = &journal.read(head.seq - 1, 0).unwrap()[0];
    assert_eq!(hash_of(json.as_bytes()), head.hash);
    assert_eq!(journal.entry_hash(head.seq).unwrap(), Some(head.hash));
    assert_eq!(journal.entry_hash(head.seq + 1).unwrap(), None);
    assert_eq!(journal.entry_hash(0).unwrap(), None);
}

#[tokio::test]
async fn an_entry_is_not_shown_before_it_is_on_disk() {
    let home = Home::new();
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    disk.hold_syncs();
    let append = start_all([journal.append(event(1))]);
    disk.wait_for_sync();

    let before = journal.read(0, 1000).unwrap();
    disk.release_syncs();
    for append in append {
        append.await.unwrap();
    }

    assert_eq!(before, Vec::<String>::new());
    assert_eq!(journal.read(0, 1000).unwrap().len(), 1);
}

#[tokio::test]
async fn a_damaged_entry_is_not_handed_out() {
    let home = Home::new();
    let journal = journal_of(&home, 3).await;
    let file = &home.segments()[0];
    let mut stored = records(file);
    stored[1][40] ^= 1;
    replace_records(file, &stored);

    assert!(journal.read(0, 1000).is_err());
    assert!(journal.entry_hash(2).is_err());
    assert!(journal.entry_hash(3).is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_is_being_written_can_be_verified_and_read() {
    let home = Home::with_small_segments();
    let journal = home.open();
    let folder = home.folder();
    let writer = journal.clone();
    let writing = tokio::spawn(async move {
        for number in 0..300 {
            writer.append(event(number)).await.unwrap();
        }
    });

    let checking = thread::spawn(move || {
        let mut seen = 0;
        while seen < 300 {
            let verified = verify(&folder).unwrap().head.seq;
            assert!(verified >= seen, "what was there once stays");
            seen = verified;
            assert!(entries(&folder, seen / 2).all(|entry| entry.is_ok()));
        }
    });

    writing.await.unwrap();
    checking.join().unwrap();
    assert_eq!(verify(&home.folder()).unwrap().head, journal.head());
}

#[tokio::test]
async fn only_a_few_are_on_the_disk_at_once_to_read() {
    let home = Home::new();
    let journal = home.open();
    let full = Arc::new(Barrier::new(READERS));
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let mut readers = tokio::task::JoinSet::new();

    for _ in 0..5 * READERS {
        let (journal, full) = (journal.clone(), Arc::clone(&full));
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        readers.spawn(async move {
            let read = move |_: &Journal| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                full.wait();
                now.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            };
            journal.reading(read).await
        });
    }
    while let Some(read) = readers.join_next().await {
        read.unwrap().unwrap();
    }

    assert_eq!(most.load(Ordering::SeqCst), READERS);
}

#[tokio::test]
async fn no_journal_can_have_lost_more_entries_than_are_ever_accepted() {
    let home = Home::new();
    let journal = journal_of(&home, 3).await;

    let can_be = |seq| journal.can_have_lost(&JournalHead { seq, ..journal.head() });

    assert_eq!([2, 4, 1 << 40, u64::MAX].map(can_be), [true, true, true, false]);
}
