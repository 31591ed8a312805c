//! The signature of an approved request is found wherever it stands.

use chancery_shared::id::ApprovalId;

use super::gaps::{accept, missing};
use super::*;
use crate::journal::signature_of;

fn approval_id() -> ApprovalId {
    ApprovalId::from_bytes([4; 12])
}

fn approved_intent(number: u8, approval_id: ApprovalId) -> Event {
    let Event::Intent(mut intent) = intent(number) else { panic!("no intent") };
    intent.approval_id = Some(approval_id);
    Event::Intent(intent)
}

#[tokio::test]
async fn a_signature_is_found_over_segments_and_gaps_from_any_entry_before_it() {
    let home = Home::with_small_segments();
    let other = ApprovalId::from_bytes([5; 12]);
    let events = [event(1), approved_intent(1, other), approved_intent(2, approval_id())];
    let (journal, _) = home.try_open().unwrap();
    let mut seqs = Vec::new();
    for event in events {
        seqs.push(journal.append(event).await.unwrap().seq);
    }
    let later = [signed(seqs[1], 1), accept(missing(70)), event(2), signed(seqs[2], 2), event(3)];
    write(journal, later).await;
    let Event::Signed { signature, .. } = signed(seqs[2], 2) else { panic!("not signed") };

    for after in 0..seqs[2] {
        let found = signature_of(&home.folder(), after, approval_id()).unwrap();

        assert_eq!(found, Some(signature.clone()), "after {after}");
    }
}

#[tokio::test]
async fn a_request_that_was_not_signed_has_no_signature() {
    let ends = [
        ("no intent", vec![intent(1), signed(1, 1)]),
        ("no outcome", vec![approved_intent(1, approval_id()), event(1)]),
        ("abandoned", vec![approved_intent(1, approval_id()), abandoned(1), event(1)]),
        ("another's signature", vec![approved_intent(1, approval_id()), intent(2), signed(2, 2)]),
    ];
    for (what, events) in ends {
        let home = Home::new();
        write(home.open(), events).await;

        assert_eq!(signature_of(&home.folder(), 0, approval_id()).unwrap(), None, "{what}");
    }
}
