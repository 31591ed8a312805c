//! What a power failure leaves is cut off; what it can't have left is damage.

use std::fs::{self, File};

use chancery_shared::wire::journal::Event;

use super::*;
use crate::journal::{Damage, ReadError, verify};

/// Two groups: entry 1, and entries 2 to 4 with reasons of this length. Answers where the second
/// begins.
async fn two_groups(home: &Home, reason: usize) -> usize {
    let disk = FaultyDisk::default();
    let journal = home.open_on(&disk);
    let group = (2..5).map(|number| Event::KeyCreationFailed {
        key_id: key_id(),
        reason: format!("{number}").repeat(reason),
    });
    write_group(&journal, &disk, event(1), group.collect()).await;
    assert_eq!(journal.counters().syncs, 2);
    journal.close().await;
    HEADER_LEN + records(&home.segments()[0])[0].len()
}

#[tokio::test]
async fn a_group_torn_at_any_byte_is_cut_at_its_last_whole_record_and_the_journal_goes_on() {
    let home = Home::new();
    let begin = two_groups(&home, 10).await;
    let file = home.segments().remove(0);
    let whole = fs::read(&file).unwrap();
    let ends: Vec<_> = records(&file)
        .iter()
        .scan(HEADER_LEN, |end, record| {
            *end += record.len();
            Some(*end)
        })
        .collect();

    for length in begin..whole.len() {
        fs::write(&file, &whole[..length]).unwrap();
        let last_end = *ends.iter().rfind(|end| **end <= length).unwrap();
        let torn = verify(&home.folder()).unwrap().torn.map_or(0, |torn| torn.bytes);

        let (journal, recovered) = home.try_open().unwrap();
        let head = journal.append(event(9)).await.unwrap();
        journal.close().await;

        assert_eq!(recovered.torn_bytes, (length - last_end) as u64, "cut to {length}");
        assert_eq!(recovered.torn_bytes, torn, "cut to {length}");
        let verified = verify(&home.folder()).unwrap();
        assert_eq!((verified.head, verified.torn), (head, None), "cut to {length}");
    }
}

#[tokio::test]
async fn sectors_of_the_last_group_that_were_never_written_are_a_tear() {
    let home = Home::new();
    let begin = two_groups(&home, 700).await;
    let file = home.segments().remove(0);
    let whole = fs::read(&file).unwrap();
    let first_sector = begin.next_multiple_of(512);

    for sector in (first_sector..whole.len()).step_by(512) {
        let mut torn = whole.clone();
        let end = (sector + 512).min(whole.len());
        torn[sector..end].fill(0);
        fs::write(&file, &torn).unwrap();

        let (journal, recovered) = home.try_open().unwrap();
        journal.close().await;

        assert!(recovered.torn_bytes > 0, "sector at {sector}");
        assert!(verify(&home.folder()).unwrap().head.seq >= 1, "sector at {sector}");
    }
}

#[tokio::test]
async fn a_file_that_grew_without_its_data_is_a_tear() {
    let home = Home::new();
    write(home.open(), [event(1)]).await;
    let file = home.segments().remove(0);
    let length = fs::metadata(&file).unwrap().len();
    for zeros in [1, 3, 4, 8, 9, 511, 512, 4096, 9000] {
        File::options().write(true).open(&file).unwrap().set_len(length + zeros).unwrap();

        let (journal, recovered) = home.try_open().unwrap();
        journal.close().await;

        assert_eq!(recovered.torn_bytes, zeros);
    }
}

#[tokio::test]
async fn a_broken_group_before_a_whole_one_is_damage_and_stays_as_it_is() {
    let home = Home::new();
    let begin = two_groups(&home, 700).await;
    write(home.open(), [event(5)]).await;
    let file = home.segments().remove(0);
    let mut broken = fs::read(&file).unwrap();
    let sector = begin.next_multiple_of(512);
    broken[sector..sector + 512].fill(0);
    fs::write(&file, &broken).unwrap();

    let refused = home.try_open();

    let Err(JournalError::Read(ReadError::Damaged { file: named, position, damage })) = refused
    else {
        panic!("{refused:?}");
    };
    assert_eq!((named, position), (file.clone(), begin as u64));
    assert!(matches!(damage, Damage::Checksum));
    assert_eq!(fs::read(&file).unwrap(), broken);
}

#[tokio::test]
async fn a_torn_group_in_a_segment_that_has_a_successor_is_damage() {
    let home = Home::with_small_segments();
    write(home.open(), (0..4).map(event)).await;
    let first = home.segments().remove(0);
    let length = fs::metadata(&first).unwrap().len();
    File::options().write(true).open(&first).unwrap().set_len(length - 5).unwrap();

    let verified = verify(&home.folder());

    assert!(matches!(verified, Err(ReadError::Damaged { damage: Damage::Checksum, .. })));
}

#[tokio::test]
async fn a_last_segment_without_its_first_entry_is_damage_and_stays_as_it_is() {
    let home = Home::with_small_segments();
    write(home.open(), (0..4).map(event)).await;
    let last = home.segments().pop().unwrap();
    let whole = fs::read(&last).unwrap();
    for length in [0, 1, HEADER_LEN - 1, HEADER_LEN, HEADER_LEN + 1, HEADER_LEN + 50] {
        fs::write(&last, &whole[..length]).unwrap();

        let refused = home.try_open();

        assert!(matches!(refused, Err(JournalError::Read(_))), "cut to {length}");
        assert_eq!(fs::read(&last).unwrap().len(), length);
    }
}
