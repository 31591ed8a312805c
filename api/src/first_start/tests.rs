//! The first start against a fake signer.

use std::sync::Arc;

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{ApprovalStatus, Request};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::{FirstStart, JOB, run, run_once};
use crate::error::Code;
use crate::lease::Lease;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::store::local_ca::LocalCaStatus;
use crate::store::testing::{TestStore, both, sqlite};
use crate::testing::{Api, api_on};

async fn api() -> (TempDir, Api) {
    api_with_home(sqlite().await).await
}

async fn api_with_home(store: TestStore) -> (TempDir, Api) {
    let home = tempfile::tempdir().unwrap();
    let api = api_on(store, |config| config.home = home.path().to_owned()).await;
    (home, api)
}

/// Names of the CAs that are live, of the issuers and of the profiles.
async fn made(api: &Api) -> [Vec<String>; 3] {
    let store = &api.state.store;
    let cas = store.local_cas().await.unwrap().into_iter();
    let cas = cas.filter(|ca| ca.status == LocalCaStatus::Live).map(|ca| ca.name);
    let issuers = store.cert_issuers().await.unwrap().into_iter().map(|issuer| issuer.name);
    let profiles = store.profiles().await.unwrap().into_iter().map(|profile| profile.name);
    [cas.collect(), issuers.collect(), profiles.collect()]
}

fn everything() -> [Vec<String>; 3] {
    [
        &["Chancery Issuing CA", "Chancery Root CA"][..],
        &["Chancery Issuer"],
        &["TLS Server and Client"],
    ]
    .map(|names| names.iter().map(|name| (*name).to_owned()).collect())
}

#[tokio::test]
async fn everything_is_made_once_and_clients_find_the_root() {
    let (home, api) = api().await;

    run_once(&api.state).await.unwrap();
    run_once(&api.state).await.unwrap();

    assert_eq!(made(&api).await, everything());
    assert_eq!(api.fake.signer().keys.len(), 2);
    let text = std::fs::read_to_string(home.path().join("root-ca.pem")).unwrap();
    let root = api.state.store.live_local_ca_named("Chancery Root CA").await.unwrap().unwrap();
    let stored = api.state.store.certificate(root.certificate_id.unwrap()).await.unwrap();
    assert_eq!(pem::parse(text).unwrap().contents(), stored.unwrap().certificate.der);
}

#[tokio::test]
async fn a_missing_root_file_is_written_again() {
    let (home, api) = api().await;
    run_once(&api.state).await.unwrap();
    let path = home.path().join("root-ca.pem");
    let before = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();

    run_once(&api.state).await.unwrap();

    assert_eq!(std::fs::read(path).unwrap(), before);
}

#[tokio::test]
async fn a_start_that_failed_on_the_way_goes_on_without_doing_a_step_twice() {
    let (_home, api) = api().await;
    api.fake.script(|request| match request {
        Request::SignCaCertificate(_) => Reaction::Refuse(refusal(RefusalCode::Busy)),
        _ => Reaction::Answer,
    });
    run_once(&api.state).await.unwrap_err();
    api.fake.script(|_| Reaction::Answer);

    run_once(&api.state).await.unwrap();

    assert_eq!(made(&api).await, everything());
}

#[tokio::test]
async fn another_process_is_not_disturbed_while_it_is_at_it() {
    let (_home, api) = api().await;
    let (one, two) = (Lease::new(&api.state, JOB), Lease::new(&api.state, JOB));
    api.fake.script(|request| match request {
        Request::SignOwnCertificate(_) => Reaction::Refuse(refusal(RefusalCode::Busy)),
        _ => Reaction::Answer,
    });
    run(&api.state, &one).await.unwrap_err();
    api.fake.script(|_| Reaction::Answer);

    run(&api.state, &two).await.unwrap_err();
    assert_eq!(made(&api).await[0], Vec::<String>::new());

    // It has ended without giving its turn back.
    api.clock.advance(JOB.holds_for);
    run(&api.state, &two).await.unwrap();
    assert_eq!(made(&api).await, everything());
}

/// Holds the answer to the first request of a kind back, and lets each request take 100 seconds.
fn slow_signer(api: &Api, is_it: fn(&Request) -> bool) -> [Arc<Notify>; 2] {
    let (asked, answer) = (Arc::<Notify>::default(), Arc::<Notify>::default());
    let ends = [Arc::clone(&asked), Arc::clone(&answer)];
    let clock = Arc::clone(&api.clock);
    api.fake.script(move |request| {
        if is_it(request) {
            asked.notify_one();
            return Reaction::AnswerWhen(Arc::clone(&answer));
        }
        if matches!(request, Request::CreateCaKey(_) | Request::SignOwnCertificate(_)) {
            clock.advance(time::Duration::seconds(100));
        }
        Reaction::Answer
    });
    ends
}

#[tokio::test]
async fn a_start_that_takes_long_keeps_its_turn() {
    for (engine, store) in both().await {
        let (_home, api) = api_with_home(store).await;
        let (one, two) = (Lease::new(&api.state, JOB), Lease::new(&api.state, JOB));
        let [asked, answer] =
            slow_signer(&api, |request| matches!(request, Request::SignCaCertificate(_)));

        let disturbs = async {
            asked.notified().await;
            let refused = run(&api.state, &two).await;
            answer.notify_one();
            refused
        };
        let (done, refused) = tokio::join!(run(&api.state, &one), disturbs);

        done.unwrap();
        assert_eq!(refused.unwrap_err().code(), Code::SignerUnavailable, "{engine}");
        assert_eq!(made(&api).await, everything(), "{engine}");
    }
}

#[tokio::test]
async fn a_start_that_has_lost_its_turn_begins_no_further_step() {
    for (engine, store) in both().await {
        let (_home, api) = api_with_home(store).await;
        let (one, two) = (Lease::new(&api.state, JOB), Lease::new(&api.state, JOB));
        let [asked, answer] =
            slow_signer(&api, |request| matches!(request, Request::SignOwnCertificate(_)));

        let overtakes = async {
            asked.notified().await;
            api.clock.advance(JOB.holds_for);
            assert!(two.renew().await.unwrap(), "{engine}");
            answer.notify_one();
        };
        let (lost, ()) = tokio::join!(run(&api.state, &one), overtakes);

        assert_eq!(lost.unwrap_err().code(), Code::SignerUnavailable, "{engine}");
        assert_eq!(made(&api).await[0], ["Chancery Root CA"], "{engine}");
        assert_eq!(api.fake.signer().keys.len(), 1, "{engine}");
    }
}

#[tokio::test]
async fn a_start_that_is_stopped_in_the_middle_leaves_its_turn_to_the_next() {
    for (engine, store) in both().await {
        let (_home, api) = api_with_home(store).await;
        let [asked, _] =
            slow_signer(&api, |request| matches!(request, Request::SignOwnCertificate(_)));
        let first_start = FirstStart::start(api.state.clone());
        asked.notified().await;

        first_start.stop().await;

        assert!(Lease::new(&api.state, JOB).renew().await.unwrap(), "{engine}");
    }
}

#[tokio::test]
async fn a_ca_that_the_operator_denied_is_asked_for_again() {
    let (_home, api) = api().await;
    api.fake.signer().approve_cas = true;
    run_once(&api.state).await.unwrap_err();
    let waiting = api.state.store.live_local_ca_named("Chancery Issuing CA").await.unwrap();
    let approval = waiting.unwrap().approval_id.unwrap();
    api.fake.signer().approvals.insert(approval, ApprovalStatus::Denied);
    crate::inventory::local_ca::resume_once(&api.state).await.unwrap();
    api.fake.signer().approve_cas = false;

    run_once(&api.state).await.unwrap();

    assert_eq!(made(&api).await, everything());
}
