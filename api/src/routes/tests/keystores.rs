//! `/admin/keystores`.

use chancery_shared::wire::v1::TokenState;
use serde_json::json;

use crate::signer_client::SignerState;
use crate::testing::{Api, api};

#[tokio::test]
async fn a_new_key_store_is_answered_whole_and_found_again() {
    let api = api().await;
    let admin = api.administrator();
    let body = json!({"name": "Vault", "keyStoreType": "PKCS11", "token": "local"});

    let made = admin.post("/api/admin/keystores", &body).await.json();

    let expected = json!({
        "id": made["id"], "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "admin",
        "name": "Vault", "keyStoreType": "PKCS11", "token": "local", "status": "ok",
        "keyCount": 0,
    });
    assert_eq!(made, expected);
    let path = format!("/api/admin/keystores/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.json(), expected);
    assert_eq!(admin.get("/api/admin/keystores").await.json(), json!([expected]));
}

#[tokio::test]
async fn what_makes_no_key_store_is_refused_with_its_code() {
    let api = api().await;
    let admin = api.administrator();
    admin.post("/api/admin/keystores", &json!({"name": "Vault", "token": "local"})).await;
    let long = "x".repeat(101);
    for (body, expected, field) in [
        (json!({"name": "Vault", "token": "local"}), (409, "name_taken"), "name"),
        (json!({"name": "Other", "token": "Local"}), (422, "unknown_token"), "token"),
        (json!({"name": "", "token": "local"}), (400, "invalid_request"), "name"),
        (json!({"name": " x", "token": "local"}), (400, "invalid_request"), "name"),
        (json!({"name": "a\tb", "token": "local"}), (400, "invalid_request"), "name"),
        (json!({"name": long, "token": "local"}), (400, "invalid_request"), "name"),
        (json!({"name": "Other"}), (400, "invalid_request"), "token"),
        (
            json!({"name": "Other", "token": "local", "keyStoreType": "JKS"}),
            (400, "invalid_request"),
            "keyStoreType",
        ),
        (
            json!({"name": "Other", "token": "local", "pin": "1234"}),
            (400, "invalid_request"),
            "pin",
        ),
    ] {
        let answer = admin.post("/api/admin/keystores", &body).await;

        let (status, code) = answer.refusal();
        assert_eq!((status, code.as_str()), expected, "{body}");
        assert_eq!(answer.json()["fields"][0]["field"], field, "{body}");
    }
    assert_eq!(admin.get("/api/admin/keystores").await.json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn the_tokens_on_offer_are_listed_with_what_they_can_and_hold() {
    let api = api().await;

    let tokens = api.administrator().get("/api/admin/keystores/tokens").await.json();

    let algorithms = [
        "RSA 2048",
        "RSA 3072",
        "RSA 4096",
        "ECDSA P-256",
        "ECDSA P-384",
        "ECDSA P-521",
        "Ed25519",
    ];
    let expected = json!([{
        "name": "local", "model": "SoftHSM v2", "serial": "0123456789abcdef", "status": "ok",
        "keyAlgorithms": algorithms, "usedKeys": 0, "freeKeys": 100, "unknownKeys": 0,
    }]);
    assert_eq!(tokens, expected);
}

/// Waits until the service has seen the signer like this.
async fn seen(api: &Api, is: impl FnMut(&SignerState) -> bool) {
    api.state.signer.watch_state().wait_for(is).await.unwrap();
}

#[tokio::test]
async fn a_token_in_trouble_shows_in_the_status_without_the_files_of_the_signer() {
    let api = api().await;
    let admin = api.administrator();
    let made =
        admin.post("/api/admin/keystores", &json!({"name": "Vault", "token": "local"})).await;
    assert_eq!(made.status, 200, "{}", made.text);
    for (state, said) in [
        (TokenState::Absent, "the token is away"),
        (TokenState::Recovering, "the token is away or being opened again"),
        (TokenState::PinRefused, "the token refused the PIN"),
    ] {
        {
            let mut signer = api.fake.signer();
            signer.tokens[0].state = state;
            signer.tokens[0].message = "/opt/vendor/lib/module.so: no such file".into();
        }
        let is_seen = |seen: &SignerState| seen.token("local").is_some_and(|t| t.state == state);
        seen(&api, is_seen).await;

        let stores = admin.get("/api/admin/keystores").await;
        let tokens = admin.get("/api/admin/keystores/tokens").await;

        for answer in [stores, tokens] {
            let status = answer.json()[0]["status"].clone();
            assert!(status.as_str().unwrap().starts_with(said), "{state:?}: {status}");
            assert!(!answer.text.contains("module.so"), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_token_that_is_away_can_be_used_for_a_key_store() {
    let api = api().await;
    api.fake.signer().tokens[0].state = TokenState::Absent;
    seen(&api, |state| state.check_token("local").is_err()).await;

    let body = json!({"name": "Vault", "token": "local"});
    let made = api.administrator().post("/api/admin/keystores", &body).await;

    assert_eq!(made.status, 200, "{}", made.text);
}

#[tokio::test]
async fn without_the_signer_key_stores_are_listed_but_not_made() {
    let mut api = api().await;
    let admin = api.administrator();
    admin.post("/api/admin/keystores", &json!({"name": "Vault", "token": "local"})).await;
    api.fake.stop().await;
    seen(&api, |state| !state.is_reachable()).await;

    let list = admin.get("/api/admin/keystores").await.json();
    let tokens = admin.get("/api/admin/keystores/tokens").await;
    let body = json!({"name": "Other", "token": "local"});
    let made = admin.post("/api/admin/keystores", &body).await;

    let status = list[0]["status"].as_str().unwrap();
    assert!(status.contains("the signer can't be reached"), "{status}");
    assert_eq!(tokens.refusal(), (503, "signer_unavailable".to_owned()));
    assert_eq!(made.refusal(), (503, "signer_unavailable".to_owned()));
}

#[tokio::test]
async fn a_key_store_gets_another_name_and_nothing_else() {
    let api = api().await;
    let admin = api.administrator();
    for name in ["Vault", "Other"] {
        let body = json!({"name": name, "token": "local"});
        assert_eq!(admin.post("/api/admin/keystores", &body).await.status, 200);
    }
    let all = admin.get("/api/admin/keystores").await.json();
    let path = format!("/api/admin/keystores/{}", all[1]["id"].as_str().unwrap());
    for (body, status) in [
        (json!({"name": "Safe"}), 200),
        (json!({"name": "Safe"}), 200),
        (json!({"name": "Other"}), 409),
        (json!({"name": ""}), 400),
        (json!({}), 400),
        (json!({"name": "X", "token": "other"}), 400),
    ] {
        let answer = admin.put(&path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
    }
    let mut expected = all[1].clone();
    expected["name"] = json!("Safe");
    assert_eq!(admin.get(&path).await.json(), expected);
    assert_eq!(admin.delete(&path).await.status, 200);
    assert_eq!(admin.put(&path, &json!({"name": "Y"})).await.status, 404);
}
