//! What becomes of a Local CA whose making was interrupted.

use std::collections::BTreeMap;

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{ApprovalStatus, KeyState, Request};
use time::Duration;

use super::*;
use crate::inventory::local_ca::resume_once as run_once;
use crate::signer_client::SignerState;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::store::local_ca::LocalCaStatus;

/// One whose making ends at the request that `cut` names; what the signer did is lost.
async fn interrupted(cut: fn(&Request) -> Option<Reaction>) -> Api {
    let (api, key_store) = api_with_key_store().await;
    api.fake.script(move |request| cut(request).unwrap_or(Reaction::Answer));
    make(&api, &key_store, "Root", None).await.unwrap_err();
    api.fake.script(|_| Reaction::Answer);
    api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
    api
}

/// Waits until the client has seen the signer's keys as they are now.
async fn keys_are_known(api: &Api) {
    let keys = |fake: &crate::signer_client::fake_signer::FakeSigner| {
        let signer = fake.signer();
        let states = signer
            .keys
            .iter()
            .map(|key| (key.summary.key_id, (key.summary.state, key.summary.has_ca_certificate)));
        states.collect::<BTreeMap<_, _>>()
    };
    let known = |state: &SignerState| {
        let states =
            state.keys().iter().map(|key| (key.key_id, (key.state, key.has_ca_certificate)));
        state.is_reachable() && states.collect::<BTreeMap<_, _>>() == keys(&api.fake)
    };
    api.state.signer.watch_state().wait_for(known).await.unwrap();
}

#[tokio::test]
async fn a_request_that_may_still_run_is_left_alone() {
    let api = interrupted(|request| {
        matches!(request, Request::SignOwnCertificate(_)).then_some(Reaction::Close)
    })
    .await;

    api.clock.advance(Duration::seconds(119));
    run_once(&api.state).await.unwrap();

    assert_eq!(api.state.store.local_cas().await.unwrap().len(), 1);
}

#[tokio::test]
async fn one_without_a_certificate_is_removed_with_its_key() {
    let api = interrupted(|request| {
        matches!(request, Request::SignOwnCertificate(_)).then_some(Reaction::Close)
    })
    .await;
    keys_are_known(&api).await;

    api.clock.advance(Duration::seconds(121));
    run_once(&api.state).await.unwrap();

    assert_eq!(api.state.store.local_cas().await.unwrap(), []);
    assert_eq!(api.fake.signer().keys[0].summary.state, KeyState::Destroyed);
}

#[tokio::test]
async fn one_that_was_signed_waits_for_its_record_and_is_live_then() {
    let api = interrupted(|request| {
        matches!(request, Request::SignOwnCertificate(_)).then_some(Reaction::DoAndClose)
    })
    .await;
    keys_are_known(&api).await;

    api.clock.advance(Duration::seconds(121));
    run_once(&api.state).await.unwrap();

    let [ca] = &api.state.store.local_cas().await.unwrap()[..] else { panic!("one row") };
    assert_eq!(ca.status, LocalCaStatus::AwaitingCertificate);
    assert_eq!(api.fake.signer().keys[0].summary.state, KeyState::Live);

    assert_eq!(crate::reconcile::run_once(&api.state).await.unwrap().recovered, 1);
    run_once(&api.state).await.unwrap();

    let [ca] = &api.state.store.local_cas().await.unwrap()[..] else { panic!("one row") };
    assert_eq!(ca.status, LocalCaStatus::Live);
}

#[tokio::test]
async fn a_key_whose_making_nobody_heard_of_is_found_in_the_journal_and_destroyed() {
    let api = interrupted(|request| {
        matches!(request, Request::CreateCaKey(_)).then_some(Reaction::DoAndClose)
    })
    .await;
    let [ca] = &api.state.store.local_cas().await.unwrap()[..] else { panic!("one row") };
    assert_eq!(ca.key_id, None);
    keys_are_known(&api).await;

    api.clock.advance(Duration::seconds(121));
    run_once(&api.state).await.unwrap();

    assert_eq!(api.state.store.local_cas().await.unwrap(), []);
    assert_eq!(api.fake.signer().keys[0].summary.state, KeyState::Destroyed);
}

#[tokio::test]
async fn a_removal_that_broke_off_goes_on_where_it_was() {
    let api = interrupted(|request| match request {
        Request::SignOwnCertificate(_) => {
            Some(Reaction::Refuse(refusal(RefusalCode::PolicyViolation)))
        }
        // Destroyed, but nobody hears of it.
        Request::DestroyKey(_) => Some(Reaction::DoAndClose),
        _ => None,
    })
    .await;
    assert_eq!(api.state.store.local_cas().await.unwrap().len(), 1);
    keys_are_known(&api).await;

    api.clock.advance(Duration::seconds(121));
    run_once(&api.state).await.unwrap();

    assert_eq!(api.state.store.local_cas().await.unwrap(), []);
}

#[tokio::test]
async fn one_that_waits_for_the_operator_is_kept_while_it_waits_and_removed_once_denied() {
    let (api, key_store) = api_with_key_store().await;
    let root = make(&api, &key_store, "Root", None).await.unwrap();
    api.fake.signer().approve_cas = true;

    let below = make(&api, &key_store, "Issuing", Some(root)).await.unwrap();
    assert_eq!(below.status, LocalCaStatus::AwaitingApproval);
    run_once(&api.state).await.unwrap();
    assert_eq!(api.state.store.local_cas().await.unwrap().len(), 2);

    let approval = below.approval_id.unwrap();
    api.fake.signer().approvals.insert(approval, ApprovalStatus::Denied);
    run_once(&api.state).await.unwrap();

    let [left] = &api.state.store.local_cas().await.unwrap()[..] else { panic!("the root") };
    assert_eq!(left.name, "Root");
    assert_eq!(api.fake.signer().keys[1].summary.state, KeyState::Destroyed);
}

#[tokio::test]
async fn one_whose_approval_the_signer_has_forgotten_is_removed() {
    let (api, key_store) = api_with_key_store().await;
    let root = make(&api, &key_store, "Root", None).await.unwrap();
    api.fake.signer().approve_cas = true;
    make(&api, &key_store, "Issuing", Some(root)).await.unwrap();

    api.fake.script(|request| match request {
        Request::ApprovalStatus(_) => Reaction::Refuse(refusal(RefusalCode::UnknownApproval)),
        _ => Reaction::Answer,
    });
    run_once(&api.state).await.unwrap();

    let [left] = &api.state.store.local_cas().await.unwrap()[..] else { panic!("the root") };
    assert_eq!(left.name, "Root");
}

#[tokio::test]
async fn one_that_the_operator_approves_is_live_once_its_record_is_there() {
    let (api, key_store) = api_with_key_store().await;
    let root = make(&api, &key_store, "Root", None).await.unwrap();
    api.fake.signer().approve_cas = true;
    let below = make(&api, &key_store, "Issuing", Some(root)).await.unwrap();

    api.fake.signer().approve(below.approval_id.unwrap());
    api.clock.advance(Duration::seconds(36));
    crate::reconcile::run_once(&api.state).await.unwrap();
    run_once(&api.state).await.unwrap();

    let live = api.state.store.local_ca(below.id).await.unwrap().unwrap();
    assert_eq!((live.status, live.approval_id), (LocalCaStatus::Live, None));
}
