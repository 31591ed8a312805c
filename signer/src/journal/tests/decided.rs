//! What became of an approved or denied request is found wherever it stands.

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::journal::KeyEvent;
use chancery_shared::wire::v1::{InstallCaCertificate, KeyChange, Request, SignCaCertificate};

use super::gaps::{accept, missing};
use super::*;
use crate::journal::{Decided, decided};

fn approval_id() -> ApprovalId {
    ApprovalId::from_bytes([4; 12])
}

fn approved_intent(number: u8, approval_id: ApprovalId) -> Event {
    let Event::Intent(mut intent) = intent(number) else { panic!("no intent") };
    intent.approval_id = Some(approval_id);
    Event::Intent(intent)
}

fn sign() -> Request {
    Request::SignCaCertificate(SignCaCertificate {
        key_id: key_id(),
        tbs: Bytes(tbs(2)),
        csr: None,
        serial_nonce: nonce(2),
        context: Context::default(),
    })
}

fn change(reason: &str) -> KeyChange {
    KeyChange { key_id: key_id(), reason: reason.to_owned(), context: Context::default() }
}

fn key_event(reason: &str) -> KeyEvent {
    let KeyChange { key_id, reason, context } = change(reason);
    KeyEvent { key_id, reason, context }
}

fn install() -> (Request, Event) {
    let (key_id, chain, context) = (key_id(), vec![Bytes(vec![0x30])], Context::default());
    let event =
        Event::CaCertificateInstalled { key_id, chain: chain.clone(), context: context.clone() };
    (Request::InstallCaCertificate(InstallCaCertificate { key_id, chain, context }), event)
}

fn approved(approval_id: ApprovalId) -> Event {
    Event::Approved { approval_id, operator_uid: 0 }
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
        let found = decided(&home.folder(), after, approval_id(), &sign()).unwrap();

        assert_eq!(found, Decided::Done { signature: Some(signature.clone()) }, "after {after}");
    }
}

#[tokio::test]
async fn a_request_that_was_not_done_is_as_if_nobody_had_decided() {
    let (install, installed) = install();
    let enable = Request::EnableKey(change("mine"));
    let enabled = Event::KeyEnabled(key_event("mine"));
    let another_s = Event::KeyEnabled(key_event("another's"));
    let destroying = Event::KeyDestroying(key_event("another's"));
    let mine = approval_id();
    let other = ApprovalId::from_bytes([5; 12]);
    let ends = [
        ("no intent", sign(), vec![intent(1), signed(1, 1)]),
        ("no outcome", sign(), vec![approved_intent(1, mine), event(1)]),
        ("abandoned", sign(), vec![approved_intent(1, mine), abandoned(1), event(1)]),
        ("another's signature", sign(), vec![approved_intent(1, mine), intent(2), signed(2, 2)]),
        ("approved alone", enable.clone(), vec![approved(mine), event(1)]),
        ("done before", enable.clone(), vec![enabled.clone(), approved(mine)]),
        ("another's approval", enable.clone(), vec![approved(other), enabled]),
        ("another's deed", enable.clone(), vec![approved(mine), another_s]),
        ("another deed", enable, vec![approved(mine), event(1)]),
        (
            "another's destroy",
            Request::DestroyKey(change("mine")),
            vec![approved(mine), destroying],
        ),
        ("not approved", install, vec![installed]),
    ];
    for (what, request, events) in ends {
        let home = Home::new();
        write(home.open(), events).await;

        let found = decided(&home.folder(), 0, mine, &request).unwrap();

        assert_eq!(found, Decided::Nothing, "{what}");
    }
}

#[tokio::test]
async fn a_change_that_was_approved_is_done_with_its_first_entry() {
    let cases = [
        (Request::EnableKey(change("why")), Event::KeyEnabled(key_event("why"))),
        (Request::DestroyKey(change("why")), Event::KeyDestroying(key_event("why"))),
        install(),
    ];
    for (request, deed) in cases {
        let home = Home::new();
        write(home.open(), [approved(approval_id()), event(1), deed, event(2)]).await;

        let found = decided(&home.folder(), 0, approval_id(), &request).unwrap();

        assert_eq!(found, Decided::Done { signature: None }, "{request:?}");
    }
}

#[tokio::test]
async fn a_key_that_goes_out_of_use_ends_each_enable_from_before_but_not_what_was_done() {
    let (enable, destroy) =
        (Request::EnableKey(change("mine")), Request::DestroyKey(change("mine")));
    let mine = approval_id();
    let enabled = Event::KeyEnabled(key_event("mine"));
    let done = Decided::Done { signature: None };
    for out in
        [Event::KeyDisabled(key_event("another's")), Event::KeyDestroying(key_event("another's"))]
    {
        for (what, request, events, expected) in [
            ("waiting", &enable, vec![out.clone(), approved(mine)], Decided::Withdrawn),
            ("approved", &enable, vec![approved(mine), out.clone()], Decided::Withdrawn),
            ("done", &enable, vec![approved(mine), enabled.clone(), out.clone()], done.clone()),
            ("another request", &destroy, vec![out.clone()], Decided::Nothing),
        ] {
            let home = Home::new();
            write(home.open(), events).await;

            let found = decided(&home.folder(), 0, mine, request).unwrap();

            assert_eq!(found, expected, "{what}, {out:?}");
        }
    }
}

#[tokio::test]
async fn a_second_try_after_an_abandoned_intent_counts() {
    let home = Home::new();
    let again = approved_intent(2, approval_id());
    write(home.open(), [again.clone(), abandoned(1), again, signed(3, 2)]).await;

    let found = decided(&home.folder(), 0, approval_id(), &sign()).unwrap();

    assert!(matches!(found, Decided::Done { signature: Some(_) }), "{found:?}");
}

#[tokio::test]
async fn the_operators_no_is_found() {
    let home = Home::new();
    let no = |approval_id| Event::Denied { approval_id, operator_uid: 0 };
    write(home.open(), [no(ApprovalId::from_bytes([5; 12])), no(approval_id())]).await;

    let found = |after| decided(&home.folder(), after, approval_id(), &sign()).unwrap();

    assert_eq!((found(1), found(2)), (Decided::Denied, Decided::Nothing));
}
