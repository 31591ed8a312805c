//! The keys that kept private keys are sealed under.

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::Request;
use serde_json::json;
use time::Duration;

use super::ISSUER;
use super::kept::{code, keep_for, made, p12};
use crate::app::{App, AppState};
use crate::key_data::{Vault, purge_once};
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::testing::api_with_issuer;

#[tokio::test]
async fn each_day_has_a_data_key_that_stays_while_anything_is_sealed_under_it() {
    let api = api_with_issuer().await;
    let mut keys = Vec::new();
    for _ in 0..3 {
        let issued = made(&api.member()).await;
        let id = issued["id"].as_str().unwrap().parse().unwrap();
        keys.push((issued, api.state.store.key_data(id).await.unwrap().unwrap().data_key_id));
        api.clock.advance(Duration::hours(23));
    }
    let ids: Vec<_> = keys.iter().map(|(_, id)| *id).collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[1], ids[2]);

    // Another process, or this one after a restart, has none of them open.
    let mut api = api;
    api.state = AppState::new(App { vault: Vault::default(), ..App::clone(&api.state) });
    assert_eq!(p12(&api.member(), &keys[0].0).await.text, keys[0].0["p12Data"].as_str().unwrap());

    keep_for(&api, 0, "days").await;
    api.clock.advance(Duration::days(2));
    assert_eq!(purge_once(&api.state).await.unwrap(), Some(3));
    for id in ids {
        assert_eq!(api.state.store.data_key(id).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_process_opens_the_data_keys_at_its_start_and_needs_no_token_for_downloads_then() {
    let mut api = api_with_issuer().await;
    let issued = made(&api.member()).await;
    api.state = AppState::new(App { vault: Vault::default(), ..App::clone(&api.state) });
    api.state.vault.open_all(&api.state).await.unwrap();

    api.fake.script(|request| match request {
        Request::Unseal(_) => Reaction::Refuse(refusal(RefusalCode::TokenUnavailable)),
        _ => Reaction::Answer,
    });

    assert_eq!(p12(&api.member(), &issued).await.text, issued["p12Data"].as_str().unwrap());
    api.state = AppState::new(App { vault: Vault::default(), ..App::clone(&api.state) });
    assert!(api.state.vault.open_all(&api.state).await.is_err());
    let closed = p12(&api.member(), &issued).await;
    assert_eq!(code(&closed), (503, "token_unavailable".to_owned()));
    assert!(closed.text.contains("because the token is away"));
}

#[tokio::test]
async fn where_no_token_can_seal_it_a_key_that_is_to_be_kept_is_not_made() {
    let api = api_with_issuer().await;
    let before = api.fake.signer().journal.entries.len();
    api.fake.script(|request| match request {
        Request::Seal(_) => Reaction::Refuse(refusal(RefusalCode::TokenUnavailable)),
        _ => Reaction::Answer,
    });
    let body = json!({
        "caName": ISSUER, "dn": "CN=www.example.test", "csrGeneratorName": "Ed25519",
        "p12Password": "open sesame",
    });

    let answer = api.member().post("/api/certs/request", &body).await;

    assert_eq!(answer.refusal(), (503, "token_unavailable".to_owned()), "{}", answer.text);
    assert_eq!(api.fake.signer().journal.entries.len(), before);
}
