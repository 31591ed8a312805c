//! The signer is away or says no, or the database would not take what was signed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chancery_shared::wire::v1::{Request, TokenState};
use chancery_shared::wire::{Refusal, RefusalCode};
use tokio::sync::Notify;

use super::{body, records, request};
use crate::signer_client::SignerState;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::testing::{Api, api_with_issuer};

/// Sets what becomes of requests for a signature, and counts them.
fn on_signing(api: &Api, mut react: impl FnMut() -> Reaction + Send + 'static) -> Arc<AtomicUsize> {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    api.fake.script(move |request| match request {
        Request::SignCertificate(_) => {
            count.fetch_add(1, Ordering::Relaxed);
            react()
        }
        _ => Reaction::Answer,
    });
    asked
}

#[tokio::test]
async fn without_a_signer_the_answer_comes_within_a_second_or_so() {
    let mut api = api_with_issuer().await;
    let before = records(&api).await;
    api.fake.stop().await;

    let (member, body) = (api.member(), body());
    let answer = tokio::time::timeout(Duration::from_secs(2), request(&member, &body));
    let answer = answer.await.unwrap();

    assert_eq!(answer.refusal(), (503, "signer_unavailable".to_owned()));
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!(records(&api).await, before);
    api.fake.serve();
    api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
    assert_eq!(request(&member, &body).await.status, 200);
}

#[tokio::test]
async fn without_a_token_nobody_waits_and_nothing_is_asked() {
    let api = api_with_issuer().await;
    let asked = on_signing(&api, || Reaction::Answer);
    api.fake.signer().tokens[0].state = TokenState::Absent;
    let is_known = |state: &SignerState| {
        state.token("local").is_some_and(|token| token.state == TokenState::Absent)
    };
    api.state.signer.watch_state().wait_for(is_known).await.unwrap();

    let answer = request(&api.member(), &body()).await;

    assert_eq!(answer.refusal(), (503, "token_unavailable".to_owned()));
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn what_is_wrong_with_a_csr_is_told_even_without_a_signer() {
    let mut api = api_with_issuer().await;
    api.fake.stop().await;

    let answer = request(&api.member(), &super::with(serde_json::json!({"csr": "x"}))).await;

    assert_eq!(answer.refusal(), (400, "bad_csr".to_owned()));
}

#[tokio::test]
async fn each_refusal_of_the_signer_has_its_status_and_leaves_no_record() {
    let api = api_with_issuer().await;
    let before = records(&api).await;
    for (code, status, shown) in [
        (RefusalCode::Busy, 503, "signer_busy"),
        (RefusalCode::RateLimited, 503, "signer_busy"),
        (RefusalCode::JournalUnavailable, 503, "journal_unavailable"),
        (RefusalCode::TokenUnavailable, 503, "token_unavailable"),
        (RefusalCode::PinRefused, 503, "token_pin_refused"),
        (RefusalCode::KeyState, 409, "ca_not_live"),
        (RefusalCode::Internal, 500, "internal"),
    ] {
        on_signing(&api, move || Reaction::Refuse(refusal(code)));
        let answer = request(&api.member(), &body()).await;
        assert_eq!(answer.refusal(), (status, shown.to_owned()), "{code:?}");
    }
    assert_eq!(records(&api).await, before);
}

#[tokio::test]
async fn a_violation_of_the_signers_policy_names_its_rule() {
    let api = api_with_issuer().await;
    on_signing(&api, || {
        let rule = Some("tbs.validity".to_owned());
        Reaction::Refuse(Refusal { rule, ..refusal(RefusalCode::PolicyViolation) })
    });

    let answer = request(&api.member(), &body()).await;

    assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()));
    let message = "the signer's policy forbids it (tbs.validity): the fake says no";
    assert_eq!(answer.json()["message"], message);
}

#[tokio::test]
async fn what_may_have_been_signed_is_not_asked_for_again() {
    let api = api_with_issuer().await;
    let asked = on_signing(&api, || Reaction::DoAndClose);

    let answer = request(&api.member(), &body()).await;

    assert_eq!(answer.refusal(), (503, "outcome_unknown".to_owned()));
    assert_eq!(asked.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_certificate_that_was_signed_and_not_recorded_is_told_with_its_id() {
    let api = api_with_issuer().await;
    let asked = on_signing(&api, || Reaction::Answer);
    api.state.store.execute_for_test("ALTER TABLE csr RENAME TO away").await;

    let answer = request(&api.member(), &body()).await;

    assert_eq!(answer.refusal(), (503, "not_recorded".to_owned()));
    assert!(!answer.headers.contains_key("retry-after"));
    assert_eq!(asked.load(Ordering::Relaxed), 1, "it is signed once");
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    let journal = api.fake.signer().journal.entries.concat();
    let id = journal.rsplit_once("\"certificateId\":\"").unwrap().1;
    assert!(message.contains(&id[..24]), "{message} without {}", &id[..24]);
    assert_eq!(answer.json()["certId"], id[..24]);
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_a_whole_record() {
    let api = api_with_issuer().await;
    let before = records(&api).await;
    let (is_signed, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (signed, told) = (Arc::clone(&is_signed), Arc::clone(&goes_on));
    on_signing(&api, move || {
        signed.notify_one();
        Reaction::AnswerWhen(Arc::clone(&told))
    });
    let member = api.member();
    let call = tokio::spawn(async move { request(&member, &body()).await });
    is_signed.notified().await;

    call.abort();
    let _ = call.await;
    goes_on.notify_one();

    let recorded = async {
        while records(&api).await == before {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), recorded).await.unwrap();
    assert_eq!(records(&api).await.len(), before.len() + 1);
}
