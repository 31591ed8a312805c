//! Numbers that are left out without the operator's word are damage, however it is made to look.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;

use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::{Entry, Event};

use super::gaps::{accept, journal_with_a_gap, missing};
use super::*;
use crate::journal::record::{self, InGroup};
use crate::journal::segment::Header;
use crate::journal::tail::hash_of;
use crate::journal::{Damage, ReadError, entries, verify};

/// A segment behind entries 1 to 3, made by someone who can compute hashes and checksums.
struct Forgery {
    first_seq: u64,
    previous: u64,
    lost_after: Option<u64>,
    then: Vec<Event>,
}

impl Default for Forgery {
    /// What the journal itself would write for a lost head 7.
    fn default() -> Self {
        let then = vec![accept(missing(7)), event(4)];
        Self { first_seq: 8, previous: 1, lost_after: Some(3), then }
    }
}

impl Forgery {
    /// A journal with this segment at its end.
    async fn make(self) -> Home {
        let home = Home::new();
        write(home.open(), (1..4).map(event)).await;
        self.append_to(&home);
        home
    }

    fn append_to(self, home: &Home) {
        let Self { first_seq, previous, lost_after, then } = self;
        let last = records(&home.segments().pop().unwrap()).pop().unwrap();
        let mut prev = hash_of(&last[FRAME_LEN..]);
        let mut bytes = Header { signer_id: signer_id(), first_seq, previous }.encode();
        let time = OffsetDateTime::UNIX_EPOCH;
        for (seq, event) in (first_seq..).zip([vec![opening(lost_after)], then].concat()) {
            let body = serde_json::to_vec(&Entry { seq, time, prev, event }).unwrap();
            prev = hash_of(&body);
            record::encode(&body, InGroup::First, &mut bytes).unwrap();
        }
        fs::write(home.folder().join(segment::name(first_seq)), bytes).unwrap();
    }
}

/// As the journal would write it, with these entries behind its opening.
fn then(events: &[Event]) -> Forgery {
    Forgery { then: events.to_vec(), ..Forgery::default() }
}

fn opening(lost_after: Option<u64>) -> Event {
    Event::SegmentOpened {
        signer_id: signer_id(),
        open_intents: Vec::new(),
        last_keyring_change: 0,
        lost_after,
    }
}

fn is_damage<T>(found: &Result<T, ReadError>) -> bool {
    matches!(found, Err(ReadError::Damaged { .. }))
}

#[tokio::test]
async fn what_the_journal_itself_would_write_passes() {
    let home = Forgery::default().make().await;

    assert_eq!(verify(&home.folder()).unwrap().head.seq, 10);
    assert_eq!(home.open().read(0, usize::MAX).unwrap().len(), 6);
}

#[tokio::test]
async fn a_gap_without_exactly_its_acceptance_is_damage() {
    let other = JournalHead { signer_id: SignerId::from_bytes([9; 12]), ..missing(7) };
    let unsaid = |events: &[Event]| Forgery { lost_after: None, ..then(events) };
    let forgeries = [
        ("no entry behind the opening", true, then(&[])),
        ("another entry behind the opening", true, then(&[event(4)])),
        ("the acceptance comes too late", true, then(&[event(4), accept(missing(7))])),
        ("a lower head is accepted", true, then(&[accept(missing(6))])),
        ("a higher head is accepted", true, then(&[accept(missing(8))])),
        ("another signer's head is accepted", true, then(&[accept(other)])),
        ("the opening comes twice", true, then(&[opening(Some(3)), accept(missing(7))])),
        ("lost: nothing", true, Forgery { lost_after: Some(7), ..Forgery::default() }),
        // A start reads no earlier segment, so that it can't know these.
        ("lost: more", false, Forgery { lost_after: Some(2), ..Forgery::default() }),
        ("lost: less", false, Forgery { lost_after: Some(4), ..Forgery::default() }),
        ("no word of a gap", false, unsaid(&[event(4)])),
        ("an acceptance, but no word of a gap", false, unsaid(&[accept(missing(7))])),
    ];
    for (what, stops_start, forgery) in forgeries {
        let home = forgery.make().await;
        let opened = home.try_open();

        assert!(is_damage(&verify(&home.folder())), "{what}");
        assert!(entries(&home.folder(), 0).any(|entry| entry.is_err()), "{what}");
        assert!(entries(&home.folder(), 5).any(|entry| entry.is_err()), "{what}");
        assert_eq!(opened.is_err(), stops_start, "{what}");
        if let Ok((journal, _)) = opened {
            assert!(journal.read(0, usize::MAX).is_err(), "{what}");
            assert!(journal.read(5, usize::MAX).is_err(), "{what}");
            assert!(journal.entry_hash(5).is_err(), "{what}");
            assert!(journal.accounts_for(&missing(5)).is_err(), "{what}");
        }
    }
}

#[tokio::test]
async fn a_gap_is_told_with_the_numbers_that_are_missing() {
    let home = then(&[event(4)]).make().await;

    let text = verify(&home.folder()).unwrap_err().to_string();

    assert!(text.contains("entries 4 to 7 are missing"), "{text}");
}

#[tokio::test]
async fn an_acceptance_in_the_midst_of_a_segment_leaves_no_gap_behind_it() {
    for (first_seq, lost_after) in [(4, None), (8, Some(3))] {
        let mut then = vec![accept(missing(7)), event(4), accept(missing(70)), event(5)];
        then.drain(..usize::from(lost_after.is_none()));
        let home = Forgery { first_seq, lost_after, then, ..Forgery::default() }.make().await;

        let verified = verify(&home.folder());

        let Err(ReadError::Damaged { damage, .. }) = verified else { panic!("{verified:?}") };
        assert!(matches!(damage, Damage::NotAbove(_)), "{damage:?}");
        assert!(home.try_open().is_err());
    }
}

#[tokio::test]
async fn an_opening_that_tells_of_a_gap_where_none_is_is_damage() {
    let home =
        Forgery { first_seq: 4, then: vec![accept(missing(3))], ..Forgery::default() }.make().await;

    assert!(is_damage(&verify(&home.folder())));
    assert!(home.try_open().is_err());
}

#[tokio::test]
async fn an_acceptance_does_not_explain_the_gap_of_another_segment() {
    let home = then(&[]).make().await;
    let second = Forgery {
        first_seq: 20,
        previous: 8,
        lost_after: Some(8),
        then: vec![accept(missing(19))],
    };
    second.append_to(&home);

    assert!(is_damage(&verify(&home.folder())));
    assert!(entries(&home.folder(), 0).any(|entry| entry.is_err()));
}

#[tokio::test]
async fn entries_that_vanish_next_to_a_gap_are_not_covered_by_it() {
    for (segment, keep) in [(0, 2), (1, 1)] {
        let home = Home::new();
        journal_with_a_gap(&home).await;
        let file = &home.segments()[segment];
        replace_records(file, &records(file)[..keep]);

        assert!(is_damage(&verify(&home.folder())), "segment {segment}");
        assert!(entries(&home.folder(), 0).any(|entry| entry.is_err()), "segment {segment}");
        // The start reads the last segment alone.
        assert_eq!(home.try_open().is_err(), segment == 1, "segment {segment}");
    }
}

#[tokio::test]
async fn a_segment_that_vanishes_before_a_gap_is_missing() {
    let home = Home::with_small_segments();
    write(home.open(), [event(1), event(2), event(3), accept(missing(9))]).await;
    assert_eq!(home.segments().len(), 3);

    fs::remove_file(&home.segments()[1]).unwrap();

    let found = verify(&home.folder());
    let Err(ReadError::Damaged { damage, .. }) = found else { panic!("{found:?}") };
    assert!(matches!(damage, Damage::MissingSegment { first_seq: 3 }), "{damage:?}");
    assert!(home.try_open().is_err());
}

#[tokio::test]
async fn a_segment_above_a_gap_that_is_torn_in_its_acceptance_is_damage_and_stays_as_it_is() {
    let home = Home::new();
    write(home.open(), [event(1), accept(missing(7))]).await;
    let last = home.segments().pop().unwrap();
    let whole = fs::read(&last).unwrap();
    let acceptance = HEADER_LEN + records(&last)[0].len();
    for length in [acceptance, acceptance + 1, acceptance + FRAME_LEN, whole.len() - 1] {
        fs::write(&last, &whole[..length]).unwrap();

        let refused = home.try_open();

        assert!(matches!(refused, Err(JournalError::Read(_))), "cut to {length}");
        assert!(is_damage(&verify(&home.folder())), "cut to {length}");
        assert_eq!(fs::read(&last).unwrap().len(), length);
    }
}

#[tokio::test]
async fn a_flipped_byte_anywhere_around_a_gap_is_found_by_verify() {
    let home = Home::new();
    journal_with_a_gap(&home).await;
    for path in home.segments() {
        let whole = fs::read(&path).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        for (position, stored) in whole.into_iter().enumerate() {
            file.write_all_at(&[stored ^ 1], position as u64).unwrap();

            let found = verify(&home.folder()).is_err();

            assert!(found, "{}, {position}", path.display());
            file.write_all_at(&[stored], position as u64).unwrap();
        }
    }
}
