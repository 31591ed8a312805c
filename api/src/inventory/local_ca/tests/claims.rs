//! Several processes on one unfinished Local CA, on both engines.

use std::sync::Arc;

use chancery_shared::wire::v1::{KeyState, Request};
use time::Duration;
use tokio::sync::Notify;

use super::*;
use crate::error::Code;
use crate::inventory::local_ca::resume_once as run_once;
use crate::signer_client::SignerState;
use crate::signer_client::fake_signer::Reaction;
use crate::store::local_ca::LocalCaStatus;
use crate::timestamp::to_millis;

/// Holds the signer's answer to the first request of a kind back; what was asked for is done.
struct Held {
    asked: Arc<Notify>,
    answer: Arc<Notify>,
}

impl Held {
    fn at(api: &Api, is_it: fn(&Request) -> bool) -> Self {
        let [held] = Self::at_each(api, [is_it]);
        held
    }

    fn at_each<const N: usize>(api: &Api, are_they: [fn(&Request) -> bool; N]) -> [Self; N] {
        let all = are_they.map(|_| Self { asked: Arc::default(), answer: Arc::default() });
        let mut ends: Vec<_> = all
            .iter()
            .zip(are_they)
            .map(|(held, is_it)| (is_it, Arc::clone(&held.asked), Arc::clone(&held.answer)))
            .collect();
        api.fake.script(move |request| {
            let Some(at) = ends.iter().position(|(is_it, ..)| is_it(request)) else {
                return Reaction::Answer;
            };
            let (_, asked, answer) = ends.swap_remove(at);
            asked.notify_one();
            Reaction::AnswerWhen(answer)
        });
        all
    }

    /// Runs `work`; does `meanwhile` while the signer's answer is held back.
    async fn during<T>(self, work: impl Future<Output = T>, meanwhile: impl AsyncFnOnce()) -> T {
        let interferes = async {
            self.asked.notified().await;
            meanwhile().await;
            self.answer.notify_one();
        };
        tokio::join!(work, interferes).0
    }
}

/// A CA whose key was made and whose certificate was never asked for.
pub(super) async fn leave_unfinished(api: &Api, key_store: &KeyStore) {
    api.fake.script(|request| match request {
        Request::SignOwnCertificate(_) => Reaction::Close,
        _ => Reaction::Answer,
    });
    make(api, key_store, "Root", None).await.unwrap_err();
    api.fake.script(|_| Reaction::Answer);
    let key_id = api.fake.signer().keys[0].summary.key_id;
    let is_seen = |state: &SignerState| state.is_reachable() && state.key(key_id).is_some();
    api.state.signer.watch_state().wait_for(is_seen).await.unwrap();
}

async fn claim_for_another_process(api: &Api, time: Duration) {
    let until = to_millis(api.state.clock.now() + time);
    let sql = format!("UPDATE local_ca SET claimed_by = 'another', claimed_until = {until}");
    api.state.store.execute_for_test(&sql).await;
}

pub(super) async fn only_row(api: &Api) -> LocalCa {
    let mut rows = api.state.store.local_cas().await.unwrap();
    assert_eq!(rows.len(), 1);
    rows.remove(0)
}

pub(super) fn key_state(api: &Api) -> KeyState {
    api.fake.signer().keys[0].summary.state
}

#[tokio::test]
async fn one_that_another_process_works_on_is_left_alone_until_that_has_ended() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_unfinished(&api, &key_store).await;
        api.clock.advance(Duration::seconds(121));
        claim_for_another_process(&api, Duration::seconds(5)).await;

        run_once(&api.state).await.unwrap();
        assert_eq!(only_row(&api).await.status, LocalCaStatus::AwaitingCertificate, "{engine}");
        assert_eq!(key_state(&api), KeyState::Live, "{engine}");

        api.clock.advance(Duration::seconds(5));
        run_once(&api.state).await.unwrap();
        assert_eq!(api.state.store.local_cas().await.unwrap(), [], "{engine}");
        assert_eq!(key_state(&api), KeyState::Destroyed, "{engine}");
    }
}

#[tokio::test]
async fn who_has_lost_the_claim_destroys_no_key() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_unfinished(&api, &key_store).await;
        api.clock.advance(Duration::seconds(121));
        let held = Held::at(&api, |request| matches!(request, Request::DisableKey(_)));

        held.during(run_once(&api.state), async || {
            claim_for_another_process(&api, Duration::MINUTE).await;
        })
        .await
        .unwrap();

        assert_eq!(only_row(&api).await.status, LocalCaStatus::Removing, "{engine}");
        assert_eq!(key_state(&api), KeyState::Disabled, "{engine}");
    }
}

#[tokio::test]
async fn who_has_lost_the_claim_to_one_that_let_the_ca_live_gives_the_key_back() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_unfinished(&api, &key_store).await;
        api.clock.advance(Duration::seconds(121));
        let held = Held::at(&api, |request| matches!(request, Request::DisableKey(_)));

        let let_live = async || {
            claim_for_another_process(&api, Duration::MINUTE).await;
            let sql = "UPDATE local_ca SET status = 'live', certificate_id = local_ca_id";
            api.state.store.execute_for_test(sql).await;
        };
        held.during(run_once(&api.state), let_live).await.unwrap();

        assert_eq!(key_state(&api), KeyState::Live, "{engine}");
    }
}

#[tokio::test]
async fn one_that_gets_its_certificate_while_it_is_taken_back_keeps_its_key() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_unfinished(&api, &key_store).await;
        api.clock.advance(Duration::seconds(121));
        let held = Held::at(&api, |request| matches!(request, Request::DisableKey(_)));

        let certify = async || api.fake.signer().keys[0].summary.has_ca_certificate = true;
        held.during(run_once(&api.state), certify).await.unwrap();

        assert_eq!(only_row(&api).await.status, LocalCaStatus::AwaitingCertificate, "{engine}");
        assert_eq!(key_state(&api), KeyState::Live, "{engine}");
    }
}

#[tokio::test]
async fn a_request_that_took_too_long_asks_for_no_certificate_and_leaves_no_key() {
    for (engine, api, key_store) in apis_with_key_store().await {
        let held = Held::at(&api, |request| matches!(request, Request::CreateCaKey(_)));

        let refused = held
            .during(make(&api, &key_store, "Root", None), async || {
                claim_for_another_process(&api, Duration::MINUTE).await;
            })
            .await
            .unwrap_err();

        assert_eq!(refused.code(), Code::OutcomeUnknown, "{engine}");
        assert_eq!(key_state(&api), KeyState::Destroyed, "{engine}");
        assert!(!api.fake.signer().keys[0].summary.has_ca_certificate, "{engine}");
        assert_eq!(only_row(&api).await.key_id, None, "{engine}");
    }
}

#[tokio::test]
async fn one_whose_request_came_further_since_it_was_listed_is_looked_at_as_it_is_now() {
    for (engine, api, key_store) in apis_with_key_store().await {
        let root = make(&api, &key_store, "Root", None).await.unwrap();
        api.fake.signer().approve_cas = true;
        make(&api, &key_store, "First", Some(root.clone())).await.unwrap();
        let [listed, second] = Held::at_each(
            &api,
            [
                |request| matches!(request, Request::ApprovalStatus(_)),
                |request| matches!(request, Request::SignCaCertificate(_)),
            ],
        );

        let is_made = Notify::new();
        let making = async {
            let made = make(&api, &key_store, "Second", Some(root)).await;
            is_made.notify_one();
            made
        };
        let looking = async {
            second.asked.notified().await;
            let come_further = async || {
                second.answer.notify_one();
                is_made.notified().await;
            };
            listed.during(run_once(&api.state), come_further).await
        };
        let (made, looked) = tokio::join!(making, looking);

        looked.unwrap();
        let made = made.unwrap();
        assert_eq!(made.status, LocalCaStatus::AwaitingApproval, "{engine}");
        let row = api.state.store.local_ca(made.id).await.unwrap().unwrap();
        assert_eq!(row.status, LocalCaStatus::AwaitingApproval, "{engine}");
        assert_eq!(api.fake.signer().keys[2].summary.state, KeyState::Live, "{engine}");
    }
}

#[tokio::test]
async fn one_whose_record_was_made_under_another_id_is_live_with_that_record() {
    for (engine, api, key_store) in apis_with_key_store().await {
        api.fake.script(|request| match request {
            Request::SignOwnCertificate(_) => Reaction::DoAndClose,
            _ => Reaction::Answer,
        });
        make(&api, &key_store, "Root", None).await.unwrap_err();
        api.fake.script(|_| Reaction::Answer);
        api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
        let meant = LocalCaDefinition::of(&only_row(&api).await).unwrap();
        let meant = meant.awaiting.unwrap().context.certificate_id;
        // Another certificate has got the id that was meant for this one.
        let other = make(&api, &key_store, "Other", None).await.unwrap();
        let other = other.certificate_id.unwrap();
        let table = "UPDATE certificate SET certificate_id";
        let history = format!("DELETE FROM history WHERE certificate_id = '{other}'");
        api.state.store.execute_for_test(&history).await;
        let rename = format!("{table} = '{meant}' WHERE certificate_id = '{other}'");
        api.state.store.execute_for_test(&rename).await;

        api.clock.advance(Duration::seconds(60));
        assert_eq!(crate::reconcile::run_once(&api.state).await.unwrap().recovered, 1, "{engine}");
        run_once(&api.state).await.unwrap();

        let root = api.state.store.live_local_ca_named("Root").await.unwrap().unwrap();
        assert_eq!(root.status, LocalCaStatus::Live, "{engine}");
        assert_ne!(root.certificate_id, Some(meant), "{engine}");
        let record = api.state.store.certificate(root.certificate_id.unwrap()).await.unwrap();
        assert_eq!(record.unwrap().certificate.subject_dn, "CN=Root, O=Example", "{engine}");
    }
}
