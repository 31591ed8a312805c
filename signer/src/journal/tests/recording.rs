//! `CheckedTbs` to `RecordedTbs`.

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::journal::Event;

use super::*;
use crate::journal::{SignedApproval, entries};
use crate::policy::CheckedTbs;

fn checked(number: u8) -> CheckedTbs {
    CheckedTbs::for_tests(tbs(number), key_id(), nonce(number))
}

#[tokio::test]
async fn a_recorded_tbs_is_what_was_checked_and_its_intent_is_on_disk() {
    let home = Home::new();
    let journal = home.open();
    journal.append(event(1)).await.unwrap();

    let recorded = journal.record(checked(7), Context::default(), None).await.unwrap();

    let stored = entries(&home.folder(), 1).next().unwrap().unwrap();
    assert_eq!(stored.event, intent(7));
    assert_eq!(recorded.head(), journal.head());
    assert_eq!(recorded.key_id(), key_id());
    assert_eq!(recorded.der(), tbs(7));
    assert_eq!(recorded.into_parts(), (tbs(7), 2));
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

    let stored: Vec<_> = entries(&home.folder(), 0).map(|entry| entry.unwrap().event).collect();
    let abandoned = |event: &Event| matches!(event, Event::Abandoned { intent: 1, .. });
    assert_eq!(stored.iter().filter(|event| abandoned(event)).count(), 1);
}

#[tokio::test]
async fn an_approved_request_that_was_signed_is_known_at_the_next_start() {
    let home = Home::new();
    let journal = home.open();
    let approvals = [8, 9].map(|number| ApprovalId::from_bytes([number; 12]));
    for (number, approval) in (1..).zip(approvals) {
        journal.record(checked(number), Context::default(), Some(approval)).await.unwrap();
    }
    write(journal, [signed(2, 2)]).await;

    let (_journal, recovered) = home.try_open().unwrap();

    let signature = Bytes(vec![5; 64]);
    let known = SignedApproval { approval_id: approvals[1], intent: 2, signature };
    assert_eq!(recovered.signed_approvals, [known]);
    assert_eq!(recovered.open_intents, [1]);
}
