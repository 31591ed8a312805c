//! Whoever changes a byte of the past is found out.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use super::*;
use crate::journal::recover::recover;
use crate::journal::storage::Folder;
use crate::journal::{Damage, ReadError, VerifyError, verify};

/// Five segments with intents, outcomes and a change of the keyring.
async fn varied_journal(home: &Home) {
    // Entries 3, 5, 7 and 9 open segments.
    let events = [keyring_change(), intent(1), signed(2, 1), intent(2), event(1), abandoned(6)];
    write(home.open(), events).await;
    assert_eq!(home.segments().len(), 5);
}

/// Changes one byte in place.
fn put(file: &Path, position: usize, byte: u8) {
    let file = File::options().write(true).open(file).unwrap();
    file.write_all_at(&[byte], position as u64).unwrap();
}

#[tokio::test]
async fn a_flipped_byte_anywhere_is_found_by_verify() {
    let home = Home::with_small_segments();
    varied_journal(&home).await;
    for file in home.segments() {
        let whole = fs::read(&file).unwrap();
        for (position, stored) in whole.into_iter().enumerate() {
            for byte in [stored ^ 1, 0, stored] {
                put(&file, position, byte);

                let found = verify(&home.folder()).is_err();

                assert_eq!(found, byte != stored, "{}, {position}", file.display());
            }
        }
    }
}

#[tokio::test]
async fn a_flipped_byte_in_the_last_segment_stops_the_start_and_is_not_cut_off() {
    let home = Home::new();
    write(home.open(), [event(1), intent(1), signed(2, 1)]).await;
    let file = home.segments().remove(0);
    let whole = fs::read(&file).unwrap();
    for position in 0..whole.len() {
        put(&file, position, whole[position] ^ 1);
        let folder = Folder::lock(&home.folder()).unwrap();

        let found = recover(&folder, &home.folder(), signer_id());

        let Err(JournalError::Read(ReadError::Damaged { position: named, .. })) = found else {
            panic!("byte {position}: {found:?}");
        };
        assert!(named <= position as u64, "byte {position}");
        assert_eq!(fs::read(&file).unwrap().len(), whole.len(), "byte {position}");
        put(&file, position, whole[position]);
    }
}

#[tokio::test]
async fn records_that_are_removed_swapped_or_repeated_are_found() {
    type Change = fn(&mut Vec<Vec<u8>>);
    let changes: [(&str, Change); 6] = [
        ("the first is removed", |records| drop(records.remove(0))),
        ("one between is removed", |records| drop(records.remove(1))),
        ("two neighbours are swapped", |records| records.swap(1, 2)),
        ("the last two are swapped", |records| records.swap(2, 3)),
        ("one is repeated", |records| records.insert(1, records[1].clone())),
        ("the last is repeated", |records| records.push(records[3].clone())),
    ];
    let home = Home::new();
    write(home.open(), (0..4).map(event)).await;
    let file = home.segments().remove(0);
    let whole = records(&file);
    for (what, change) in changes {
        let mut stored = whole.clone();
        change(&mut stored);
        replace_records(&file, &stored);

        assert!(verify(&home.folder()).is_err(), "{what}");
        assert!(home.try_open().is_err(), "{what}");
    }
}

#[tokio::test]
async fn a_missing_segment_is_found_by_verify_and_the_nearest_by_the_start() {
    for (missing, stops_start) in [(0, true), (1, false), (2, true)] {
        let home = Home::with_small_segments();
        write(home.open(), (0..6).map(event)).await;
        assert!(home.segments().len() >= 4);
        let count = home.segments().len();
        let missing = if missing == 2 { count - 2 } else { missing };
        fs::remove_file(&home.segments()[missing]).unwrap();

        let verified = verify(&home.folder());

        let is_missing = |error: &VerifyError| {
            matches!(error, ReadError::Damaged { damage: Damage::MissingSegment { .. }, .. })
        };
        assert!(verified.is_err_and(|error| is_missing(&error)), "segment {missing}");
        assert_eq!(home.try_open().is_err(), stops_start, "segment {missing}");
    }
}

#[tokio::test]
async fn an_empty_folder_is_no_sound_journal() {
    let home = Home::new();
    fs::create_dir(home.folder()).unwrap();

    assert!(verify(&home.folder()).is_err());
}

#[tokio::test]
async fn a_segment_of_another_journal_is_found() {
    let (home, other) = (Home::with_small_segments(), Home::with_small_segments());
    write(home.open(), (0..6).map(event)).await;
    write(other.open(), (10..16).map(event)).await;
    let second = home.segments().remove(1);

    fs::copy(&other.segments()[1], &second).unwrap();

    assert!(verify(&home.folder()).is_err());
}

#[tokio::test]
async fn a_cut_tail_is_sound_in_itself_but_lacks_the_head_that_others_know() {
    let home = Home::new();
    let journal = home.open();
    let kept = journal.append(event(1)).await.unwrap();
    let known = journal.append(event(2)).await.unwrap();
    journal.close().await;
    let file = home.segments().remove(0);
    replace_records(&file, &records(&file)[..1]);

    let journal = home.open();

    assert_eq!(verify(&home.folder()).unwrap().head, kept);
    assert_eq!(journal.entry_hash(known.seq).unwrap(), None);
}

#[tokio::test]
async fn an_older_copy_that_went_on_disagrees_with_the_head_that_others_know() {
    let home = Home::new();
    write(home.open(), [event(1)]).await;
    let file = home.segments().remove(0);
    let older = fs::read(&file).unwrap();
    let journal = home.open();
    let known = journal.append(event(2)).await.unwrap();
    journal.close().await;

    fs::write(&file, older).unwrap();
    let journal = home.open();
    journal.append(event(3)).await.unwrap();

    assert!(verify(&home.folder()).is_ok());
    assert_ne!(journal.entry_hash(known.seq).unwrap(), Some(known.hash));
}

#[test]
fn damage_is_told_with_file_position_and_what_to_do() {
    let file = Path::new("/journal/00000000000000000001.journal");
    let error = ReadError::damaged(file, 4711, Damage::Checksum);

    let text = error.to_string();

    for part in ["00000000000000000001.journal", "byte 4711", "CRC-32C", "backup", "accept-journal"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
}
