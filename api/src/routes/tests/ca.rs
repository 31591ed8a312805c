//! `/admin/ca`: Certificate Issuers, on Local CAs that a signer made.

use chancery_shared::wire::policy::Policy;
use serde_json::{Value, json};

use crate::error::Code;
use crate::inventory::{cert_issuer, csr_generator};
use crate::testing::{Api, Persona, api};

/// What issuers stand on: ids of the root, of the CA below it, and of the profile.
struct Ground {
    api: Api,
    root: Value,
    ca: Value,
    profile: Value,
}

async fn made(admin: &Persona, path: &str, body: Value) -> Value {
    let answer = admin.post(path, &body).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.json()
}

async fn ground() -> Ground {
    let api = api().await;
    csr_generator::make_first(&api.state, "test").await.unwrap();
    let admin = api.administrator();
    made(&admin, "/api/admin/keystores", json!({"name": "Vault", "token": "local"})).await;
    let root = json!({
        "name": "Root", "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=Root,O=Example",
        "lifetimeInDays": 7000, "keyAlgorithm": "ECDSA P-256",
    });
    let root = made(&admin, "/api/admin/localca", root).await;
    let ca = json!({
        "name": "Issuing", "keyStoreName": "Vault", "parentLocalCaName": "Root",
        "subjectDn": "CN=Issuing,O=Example", "lifetimeInDays": 3650,
        "keyAlgorithm": "ECDSA P-256", "policy": {"maxValidityDays": 90},
    });
    let ca = made(&admin, "/api/admin/localca", ca).await;
    let profile = made(&admin, "/api/admin/profiles", profile("Web", 90)).await;
    Ground { api, root, ca, profile }
}

fn profile(name: &str, days: u32) -> Value {
    json!({
        "name": name, "lifetimeInMinutes": days * 1440, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"],
    })
}

fn issuer() -> Value {
    json!({"caName": "Web Issuer", "localCaName": "Issuing", "certProfileName": "Web"})
}

/// The sound body with one field as `value`.
fn with(name: &str, value: Value) -> Value {
    let mut body = issuer();
    body[name] = value;
    body
}

#[tokio::test]
async fn a_new_issuer_is_answered_whole_with_the_chain_of_its_ca() {
    let Ground { api, root, ca, profile } = ground().await;
    let admin = api.administrator();
    let body = json!({
        "caName": "Web Issuer", "caType": 0, "caTypeName": "Local", "localCaId": ca["id"],
        "localCaName": "Issuing", "certProfileId": profile["id"], "allowDnRequests": false,
        "allowedGenerators": ["RSA 2048", "Ed25519"], "teams": ["Default"],
    });

    let made = made(&admin, "/api/admin/ca", body).await;

    let chain = json!([ca["caCertificate"], root["caCertificate"]]);
    let expected = json!({
        "id": made["id"], "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "admin",
        "caName": "Web Issuer", "caType": 0, "caTypeName": "Local", "localCaId": ca["id"],
        "certProfileId": profile["id"], "allowDnRequests": false, "allowCsrRequests": true,
        "allowedGenerators": ["RSA 2048", "Ed25519"], "caCerts": chain,
        "caSubjectDn": "CN=Issuing, O=Example", "teams": [api.default_team.to_string()],
    });
    assert_eq!(made, expected);
    let path = format!("/api/admin/ca/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.json(), expected);
    assert_eq!(api.member().get("/api/admin/ca").await.json(), json!([expected]));
    for name in ["Web%20Issuer", made["id"].as_str().unwrap()] {
        let path = format!("/api/admin/ca/chainbyname/{name}");
        assert_eq!(api.member().get(&path).await.json(), chain, "{name}");
    }
    for team in admin.get("/api/admin/teams").await.json().as_array().unwrap() {
        let own = if team["name"] == "Default" { json!([made["id"]]) } else { json!([]) };
        assert_eq!(team["authorisedCas"], own, "{team}");
    }
}

#[tokio::test]
async fn the_chain_of_a_root_is_the_root_alone() {
    let Ground { api, root, .. } = ground().await;
    let body = json!({"caName": "Direct", "localCaId": root["id"], "certProfileName": "Web"});
    made(&api.administrator(), "/api/admin/ca", body).await;

    let chain = api.member().get("/api/admin/ca/chainbyname/Direct").await.json();

    assert_eq!(chain, json!([root["caCertificate"]]));
}

#[tokio::test]
async fn a_chain_of_no_issuer_is_a_404() {
    let api = api().await;
    for name in ["Nothing", "0".repeat(24).as_str(), "%ff", "a%2Fb", "%00"] {
        let answer = api.member().get(&format!("/api/admin/ca/chainbyname/{name}")).await;
        assert_eq!(answer.refusal(), (404, "not_found".to_owned()), "{name}");
    }
}

#[tokio::test]
async fn what_makes_no_issuer_is_refused_with_its_field() {
    let Ground { api, root, .. } = ground().await;
    let admin = api.administrator();
    made(&admin, "/api/admin/profiles", profile("Long", 91)).await;
    made(&admin, "/api/admin/ca", with("caName", json!("Taken"))).await;
    let disagreeing = with("localCaId", root["id"].clone());
    let nothing = "0".repeat(24);
    for (body, expected, field) in [
        (with("caName", json!("Taken")), (409, "name_taken"), "caName"),
        (with("caName", json!("")), (400, "invalid_request"), "caName"),
        (with("caType", json!(1)), (400, "invalid_request"), "caType"),
        (with("caTypeName", json!("Microsoft")), (400, "invalid_request"), "caTypeName"),
        (with("caCert", json!("x")), (400, "invalid_request"), "caCert"),
        (disagreeing, (400, "invalid_request"), "localCaName"),
        (with("localCaName", json!("")), (400, "invalid_request"), "localCaId"),
        (with("localCaName", json!("None")), (422, "unknown_reference"), "localCaName"),
        (with("localCaId", json!(nothing)), (422, "unknown_reference"), "localCaId"),
        (with("certProfileName", json!("None")), (422, "unknown_reference"), "certProfileName"),
        (with("certProfileId", json!("x")), (422, "unknown_reference"), "certProfileId"),
        (with("certProfileName", json!(null)), (400, "invalid_request"), "certProfileId"),
        (with("certProfileName", json!("Long")), (422, "policy_violation"), "lifetimeInMinutes"),
        (
            with("allowedGenerators", json!(["Ed25519", "RSA 1024"])),
            (422, "unknown_generator"),
            "allowedGenerators[1]",
        ),
        (with("teams", json!(["Default", "None"])), (422, "unknown_reference"), "teams[1]"),
    ] {
        let answer = admin.post("/api/admin/ca", &body).await;

        let (status, code) = answer.refusal();
        assert_eq!((status, code.as_str()), expected, "{body}: {}", answer.text);
        assert_eq!(answer.json()["fields"][0]["field"], field, "{body}");
    }
    assert_eq!(admin.get("/api/admin/ca").await.json().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_profile_may_use_all_that_an_unnarrowed_key_may_sign() {
    let Ground { api, .. } = ground().await;
    let admin = api.administrator();
    made(&admin, "/api/admin/profiles", profile("Year", 397)).await;
    api.allow(Policy { max_validity_days: 3970, ..Policy::shipped() }).await;
    made(&admin, "/api/admin/profiles", profile("Decade", 3970)).await;
    api.allow(Policy::shipped()).await;
    let on_root =
        |profile| json!({"caName": profile, "localCaName": "Root", "certProfileName": profile});

    made(&admin, "/api/admin/ca", on_root("Year")).await;
    let beyond = admin.post("/api/admin/ca", &on_root("Decade")).await;

    assert_eq!(beyond.refusal(), (422, "policy_violation".to_owned()));
}

#[tokio::test]
async fn an_issuer_issues_by_its_ca_and_profile_while_the_ca_is_live() {
    let Ground { api, ca, profile, .. } = ground().await;
    let issuer = made(&api.administrator(), "/api/admin/ca", issuer()).await;
    let id = issuer["id"].as_str().unwrap().parse().unwrap();

    let issuing = cert_issuer::issuing(&api.state.store, id).await.unwrap();

    assert_eq!(issuing.cert_issuer_id, id);
    assert_eq!(json!(issuing.local_ca_id), ca["id"]);
    assert_eq!(json!(issuing.issuer_certificate_id), ca["certId"]);
    assert_eq!(json!(issuing.profile.lifetime_in_minutes), profile["lifetimeInMinutes"]);
    let keys = api.state.store.local_ca(issuing.local_ca_id).await.unwrap();
    assert_eq!(Some(issuing.key_id), keys.unwrap().key_id);
}

#[tokio::test]
async fn nothing_is_issued_by_an_issuer_or_ca_that_is_gone_or_off() {
    let Ground { api, .. } = ground().await;
    let admin = api.administrator();
    let issuer = made(&admin, "/api/admin/ca", issuer()).await;
    let id = issuer["id"].as_str().unwrap().parse().unwrap();
    for (change, expected) in [
        ("UPDATE local_ca SET status = 'offline'", Code::CaNotLive),
        ("UPDATE local_ca SET status = 'revoked'", Code::CaNotLive),
        ("UPDATE local_ca SET status = 'live', deleted_at = 5", Code::CaNotLive),
        ("UPDATE local_ca SET certificate_id = NULL, deleted_at = NULL", Code::CaNotLive),
        ("UPDATE cert_issuer SET deleted_at = 5", Code::UnknownIssuer),
    ] {
        api.state.store.execute_for_test(change).await;

        let refused = cert_issuer::issuing(&api.state.store, id).await.unwrap_err();

        assert_eq!(refused.code(), expected, "{change}");
    }
    let path = format!("/api/admin/ca/{id}");
    assert_eq!(admin.get(&path).await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(admin.get("/api/admin/ca").await.json(), json!([]));
    for name in ["Web%20Issuer".to_owned(), id.to_string()] {
        let answer = admin.get(&format!("/api/admin/ca/chainbyname/{name}")).await;
        assert_eq!(answer.refusal(), (404, "not_found".to_owned()), "{name}");
    }
}

#[tokio::test]
async fn an_issuer_is_not_made_on_a_ca_that_is_not_live() {
    let Ground { api, .. } = ground().await;
    let admin = api.administrator();
    for (status, expected) in [("offline", 409), ("awaiting-certificate", 409), ("live", 200)] {
        let change = format!("UPDATE local_ca SET status = '{status}'");
        api.state.store.execute_for_test(&change).await;

        let answer = admin.post("/api/admin/ca", &issuer()).await;

        assert_eq!(answer.status, expected, "{status}: {}", answer.text);
    }
}
