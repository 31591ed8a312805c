//! A journal that is not what it was.

use chancery_shared::bytes::Fixed;
use chancery_shared::id::{Id, SignerId};
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;

use super::scene::{Scene, scene, scenes};
use crate::reconcile::{JournalFault, ReconcileError};
use crate::signer_client::fake_signer::FakeJournal;

async fn fault(scene: &Scene) -> JournalFault {
    match scene.reconcile_later().await {
        Err(ReconcileError::Journal(fault)) => fault,
        other => panic!("a fault was expected: {other:?}"),
    }
}

/// As a signer that starts on the copy would.
fn start(scene: &Scene) {
    let mut signer = scene.api.fake.signer();
    let (signer_id, boot_id, version) = (signer.id(), "again".to_owned(), "fake".to_owned());
    signer.journal.append(Event::Started { signer_id, boot_id, version });
}

#[tokio::test]
async fn a_changed_entry_stops_reconciliation_before_it() {
    for (engine, scene) in scenes().await {
        scene.sign().await;
        let good = scene.reconcile_later().await.unwrap().reconciled_seq;
        let signed = scene.sign().await;
        scene.sign().await;
        {
            let journal = &mut scene.api.fake.signer().journal;
            let entry = &mut journal.entries[usize::try_from(good).unwrap()];
            *entry = entry.replace("rack 12", "rack 13");
        }

        assert_eq!(fault(&scene).await, JournalFault::Chain { seq: good + 2 }, "{engine}");
        assert_eq!(fault(&scene).await, JournalFault::Chain { seq: good + 2 }, "{engine}");

        assert_eq!(scene.known().await.reconciled_seq, good, "{engine}");
        assert_eq!(scene.stored(signed.id()).await, None, "{engine}");
    }
}

#[tokio::test]
async fn an_entry_that_was_reconciled_must_stay_as_it_was() {
    let scene = scene().await;
    scene.sign().await;
    let good = scene.reconcile_later().await.unwrap().reconciled_seq;
    scene.api.fake.signer().journal.entries.last_mut().unwrap().push(' ');

    assert_eq!(fault(&scene).await, JournalFault::Replaced { seq: good });
}

#[tokio::test]
async fn a_head_that_a_reply_named_must_be_in_the_journal() {
    let scene = scene().await;
    scene.reconcile_later().await.unwrap();
    let reconciled = scene.known().await.reconciled_seq;
    let signed = scene.sign().await;
    scene.record(&signed).await;
    let lost = scene.head();
    scene.api.fake.signer().journal.restore_copy_of(reconciled);
    start(&scene);

    assert_eq!(fault(&scene).await, JournalFault::Replaced { seq: lost.seq });
    assert_eq!(scene.known().await.reconciled_seq, reconciled);
}

/// What is done to a journal before its entry of this number, and the fault that it is.
type Case = (&'static str, fn(&mut FakeJournal, u64), fn(u64) -> JournalFault);

const LEFT_OUT: fn(u64) -> JournalFault =
    |next| JournalFault::Sequence { expected: next, found: next + 5 };

const SPOILT: &[Case] = &[
    (
        "no entry",
        |journal, next| journal.entries.push(format!("{{\"seq\":{next},}}")),
        |next| JournalFault::NotAnEntry { after: next - 1 },
    ),
    (
        "numbers left out",
        |journal, next| {
            journal.append_as(next + 5, Event::TornTailCut { bytes: 1 });
        },
        LEFT_OUT,
    ),
    (
        "a segment behind a gap that nobody accepted",
        |journal, next| {
            journal.append_as(next + 5, opened(journal.signer_id, next - 1));
            journal.append(Event::TornTailCut { bytes: 1 });
        },
        |next| JournalFault::Sequence { expected: next, found: next + 5 },
    ),
    (
        "fewer accepted than left out",
        |journal, next| {
            journal.append_as(next + 5, accepted(journal.signer_id, next + 3));
        },
        LEFT_OUT,
    ),
    (
        "another signer's loss accepted",
        |journal, next| {
            journal.append_as(next + 5, accepted(Id::from_bytes([7; 12]), next + 4));
        },
        LEFT_OUT,
    ),
    (
        "an entry of another signer's",
        |journal, _| {
            let (boot_id, version) = (String::new(), String::new());
            journal.append(Event::Started { signer_id: Id::from_bytes([7; 12]), boot_id, version });
        },
        |next| JournalFault::OtherSigner { seq: next },
    ),
];

fn opened(signer_id: SignerId, lost_after: u64) -> Event {
    Event::SegmentOpened {
        signer_id,
        open_intents: Vec::new(),
        last_keyring_change: 0,
        lost_after: Some(lost_after),
    }
}

fn accepted(signer_id: SignerId, seq: u64) -> Event {
    let missing = JournalHead { signer_id, seq, hash: Fixed([1; 32]) };
    Event::JournalAccepted { missing, operator_uid: 0 }
}

#[tokio::test]
async fn faults_of_single_entries_are_told_apart_and_stop_reconciliation_before_them() {
    for (case, spoil, expected) in SPOILT {
        let scene = scene().await;
        let last = scene.reconcile_later().await.unwrap().reconciled_seq;
        scene.sign().await;
        let next = scene.head().seq + 1;
        spoil(&mut scene.api.fake.signer().journal, next);

        assert_eq!(fault(&scene).await, expected(next), "{case}");

        let reached = scene.known().await.reconciled_seq;
        assert!((last..next).contains(&reached), "{case}: {reached}");
    }
}

#[tokio::test]
async fn an_event_that_this_version_does_not_know_is_passed() {
    let scene = scene().await;
    {
        let journal = &mut scene.api.fake.signer().journal;
        let head = journal.append(Event::TornTailCut { bytes: 1 });
        let entry = journal.entries.last_mut().unwrap();
        *entry = entry.replace("torn-tail-cut", "new-in-a-later-version");
        assert_ne!(journal.head(), head);
    }
    scene.sign().await;

    assert_eq!(scene.reconcile_later().await.unwrap().recovered, 1);
}

#[tokio::test]
async fn entries_that_the_operator_accepted_as_lost_are_marked_and_raise_no_alarm() {
    for (engine, scene) in scenes().await {
        scene.reconcile_later().await.unwrap();
        let copy = scene.head().seq;
        // Recorded, not reconciled yet, and lost with the disk.
        for _ in 0..3 {
            let signed = scene.sign().await;
            scene.record(&signed).await;
        }
        let missing = scene.head();
        scene.api.fake.signer().journal.restore_copy_of(copy);
        // Two entries under numbers that were something else before.
        start(&scene);
        start(&scene);
        assert_eq!(fault(&scene).await, JournalFault::Replaced { seq: missing.seq }, "{engine}");

        scene.api.fake.signer().journal.accept(missing);
        let later = scene.sign().await;
        let report = scene.reconcile_later().await.unwrap();

        assert_eq!((report.alarms, report.recovered), (0, 1), "{engine}");
        assert_eq!(report.lost, missing.seq - copy - 2, "{engine}");
        assert_eq!(report.reconciled_seq, scene.head().seq, "{engine}");
        assert!(scene.stored(later.id()).await.is_some(), "{engine}");
    }
}

#[tokio::test]
async fn a_gap_may_reach_below_what_was_reconciled() {
    for (engine, scene) in scenes().await {
        let copy = scene.head().seq;
        for _ in 0..3 {
            let signed = scene.sign().await;
            scene.record(&signed).await;
        }
        let reconciled = scene.reconcile_later().await.unwrap().reconciled_seq;
        let signed = scene.sign().await;
        scene.record(&signed).await;
        let missing = scene.head();
        scene.api.fake.signer().journal.restore_copy_of(copy);
        start(&scene);
        fault(&scene).await;

        scene.api.fake.signer().journal.accept(missing);
        scene.sign().await;
        let report = scene.reconcile_later().await.unwrap();

        assert_eq!((report.alarms, report.recovered), (0, 1), "{engine}");
        assert_eq!(report.lost, missing.seq - reconciled, "{engine}");
        assert_eq!(report.reconciled_seq, scene.head().seq, "{engine}");
    }
}

#[tokio::test]
async fn a_journal_that_has_outgrown_the_missing_head_is_accepted_without_a_gap() {
    let scene = scene().await;
    let copy = scene.head().seq;
    let signed = scene.sign().await;
    scene.record(&signed).await;
    let missing = scene.head();
    scene.reconcile_later().await.unwrap();
    scene.api.fake.signer().journal.restore_copy_of(copy);
    for _ in 0..5 {
        start(&scene);
    }
    assert_eq!(fault(&scene).await, JournalFault::Replaced { seq: missing.seq });

    scene.api.fake.signer().journal.accept(missing);
    scene.sign().await;
    let report = scene.reconcile_later().await.unwrap();

    assert_eq!((report.alarms, report.recovered), (0, 1));
    assert_eq!(report.reconciled_seq, scene.head().seq);
    assert_eq!(scene.reconcile_later().await.unwrap().entries, 0);
}

#[tokio::test]
async fn an_old_gap_is_passed_by_who_reads_from_the_beginning() {
    let scene = scene().await;
    let missing = JournalHead { seq: 500, ..scene.head() };
    scene.api.fake.signer().journal.accept(missing);
    let signed = scene.sign().await;

    let report = scene.reconcile_later().await.unwrap();

    assert!(scene.stored(signed.id()).await.is_some());
    assert_eq!((report.alarms, report.reconciled_seq), (0, scene.head().seq));
}

#[tokio::test]
async fn a_gap_whose_acceptance_is_not_there_yet_is_not_passed() {
    let scene = scene().await;
    let before = scene.head();
    {
        let journal = &mut scene.api.fake.signer().journal;
        journal.append_as(500, opened(journal.signer_id, before.seq));
    }

    assert_eq!(scene.reconcile_later().await.unwrap().reconciled_seq, before.seq);
}
