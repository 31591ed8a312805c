//! `/admin/localca`: made, refused, and finished once the operator approves.

mod ceiling;
mod change;

use serde_json::{Value, json};

use crate::inventory::local_ca::resume_once;
use crate::reconcile;
use crate::testing::{Api, api};

async fn with_a_key_store() -> Api {
    let api = api().await;
    let store = json!({"name": "Vault", "token": "local"});
    let answer = api.administrator().post("/api/admin/keystores", &store).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    api
}

fn root() -> Value {
    json!({
        "name": "Root", "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=Root, O=Example",
        "lifetimeInDays": 7000, "keyAlgorithm": "RSA 3072", "hashAlgorithm": "SHA-384",
        "rsaPss": true,
    })
}

fn below() -> Value {
    json!({
        "name": "Issuing", "keyStoreName": "Vault", "parentLocalCaName": "Root",
        "subjectDn": "CN=Issuing", "lifetimeInDays": 3650, "keyAlgorithm": "ECDSA P-384",
        "pathLength": 0, "nameConstraints": {"permitted": ["DNS:example.test"]},
        "cdps": ["http://ca.example.test/crl"],
    })
}

/// The body with one more field.
fn with(mut body: Value, name: &str, value: Value) -> Value {
    body[name] = value;
    body
}

#[tokio::test]
async fn a_root_is_made_live_with_its_certificate_and_its_record() {
    let api = with_a_key_store().await;
    let admin = api.administrator();

    let made = admin.post("/api/admin/localca", &root()).await;

    assert_eq!(made.status, 200, "{}", made.text);
    let item = made.json();
    assert_eq!(item["status"], "live");
    assert_eq!(item["subjectDn"], "CN=Root, O=Example");
    assert_eq!(item["keyAlgorithm"], "RSA 3072");
    assert_eq!((&item["hashAlgorithm"], &item["rsaPss"]), (&json!("SHA-384"), &json!(true)));
    assert_eq!(item["createdBy"], "admin");
    let record = admin.get(&format!("/api/certs/{}", item["certId"].as_str().unwrap())).await;
    let record = record.json();
    assert_eq!(record["pemCert"], item["caCertificate"]);
    assert_eq!(record["isCa"], true);
    assert_eq!(record["issuerCertId"], record["id"]);
    assert_eq!(record["teamName"], "Administrators");
    let read = admin.get(&format!("/api/admin/localca/{}", item["id"].as_str().unwrap())).await;
    assert_eq!(read.json(), item);
}

#[tokio::test]
async fn a_ca_below_chains_to_its_parent_s_record() {
    let api = with_a_key_store().await;
    let admin = api.administrator();
    let parent = admin.post("/api/admin/localca", &root()).await.json();

    let made = admin.post("/api/admin/localca", &below()).await;

    assert_eq!(made.status, 200, "{}", made.text);
    let item = made.json();
    assert_eq!(item["parentLocalCaId"], parent["id"]);
    assert_eq!(item["nameConstraints"]["permitted"], json!(["DNS:example.test"]));
    let record = admin.get(&format!("/api/certs/{}", item["certId"].as_str().unwrap())).await;
    assert_eq!(record.json()["issuerCertId"], parent["certId"]);
    assert_eq!(admin.get("/api/admin/localca").await.json().as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_field_that_is_wrong_is_named_and_nothing_is_made() {
    let api = with_a_key_store().await;
    let admin = api.administrator();
    for (body, status, code, field) in [
        (with(root(), "subjectDn", json!("XX=1")), 400, "invalid_request", "subjectDn"),
        (with(root(), "subjectDn", json!("")), 400, "invalid_request", "subjectDn"),
        (with(root(), "lifetimeInDays", json!(0)), 400, "invalid_request", "lifetimeInDays"),
        (with(root(), "keyAlgorithm", json!("RSA 1024")), 400, "invalid_request", "keyAlgorithm"),
        (with(root(), "hashAlgorithm", json!("SHA-1")), 400, "invalid_request", "hashAlgorithm"),
        (with(root(), "cdps", json!(["https://x/crl"])), 400, "invalid_request", "cdps[0]"),
        (with(root(), "policies", json!(["x"])), 400, "invalid_request", "policies"),
        (with(root(), "external", json!(true)), 400, "invalid_request", "external"),
        (
            with(root(), "crlLifetimeMinutes", json!(1)),
            400,
            "invalid_request",
            "crlLifetimeMinutes",
        ),
        (with(root(), "parentLocalCaName", json!("Root")), 400, "invalid_request", "rootCa"),
        (with(root(), "rootCa", json!(false)), 400, "invalid_request", "parentLocalCaId"),
        (with(root(), "policy", json!({"x": 1})), 400, "invalid_request", "policy.x"),
        (
            with(root(), "policy", json!({"maxValidityDays": "long"})),
            400,
            "invalid_request",
            "policy.maxValidityDays",
        ),
        (
            with(root(), "policy", json!({"maxValidityDays": 9000})),
            400,
            "invalid_request",
            "policy.maxValidityDays",
        ),
        (
            with(root(), "nameConstraints", json!({"permitted": ["DNS:.example.test"]})),
            400,
            "invalid_request",
            "nameConstraints",
        ),
        (with(root(), "keyStoreName", json!("Nowhere")), 422, "unknown_reference", "keyStoreName"),
        (below(), 422, "unknown_reference", "parentLocalCaName"),
    ] {
        let answer = admin.post("/api/admin/localca", &body).await;

        assert_eq!(answer.refusal(), (status, code.to_owned()), "{body}: {}", answer.text);
        assert_eq!(answer.json()["fields"][0]["field"], field, "{}", answer.text);
    }
    assert!(api.fake.signer().keys.is_empty(), "no key was made");
}

#[tokio::test]
async fn a_ca_that_contradicts_what_stands_above_it_is_refused_before_it_has_a_key() {
    let api = with_a_key_store().await;
    let admin = api.administrator();
    let mut top = root();
    top["pathLength"] = json!(1);
    top["nameConstraints"] = json!({"permitted": ["DNS:test"], "excluded": ["DNS:secret.test"]});
    assert_eq!(admin.post("/api/admin/localca", &top).await.status, 200);
    let mut middle = with(below(), "name", json!("Middle"));
    middle["nameConstraints"] = json!(null);
    assert_eq!(admin.post("/api/admin/localca", &middle).await.status, 200);
    let narrow =
        with(with(below(), "name", json!("Narrow")), "policy", json!({"certifyCas": null}));
    assert_eq!(admin.post("/api/admin/localca", &narrow).await.status, 200);
    let keys = api.fake.signer().keys.len();
    let permitted = |name: &str| json!({"permitted": [name]});
    let root_of = |policy: Value| with(with(root(), "name", json!("Other")), "policy", policy);
    for (body, field, said) in [
        (with(below(), "nameConstraints", permitted("DNS:else")), "nameConstraints", "DNS:test"),
        (
            with(below(), "nameConstraints", permitted("DNS:a.secret.test")),
            "nameConstraints",
            "DNS:secret.test",
        ),
        (
            with(
                root(),
                "nameConstraints",
                json!({"permitted": ["DNS:a.b"], "excluded": ["DNS:b"]}),
            ),
            "nameConstraints",
            "the CA itself",
        ),
        (with(below(), "pathLength", json!(1)), "pathLength", "at most 0"),
        (with(below(), "pathLength", json!(null)), "pathLength", "at most 0"),
        (
            with(below(), "parentLocalCaName", json!("Middle")),
            "pathLength",
            "no CA may stand below",
        ),
        (with(below(), "lifetimeInDays", json!(7001)), "lifetimeInDays", "at most 7000"),
        (with(below(), "parentLocalCaName", json!("Narrow")), "policy", "may not certify CAs"),
        (root_of(json!({"certifyCas": null})), "policy", "may not certify CAs"),
        (root_of(json!({"certifyCas": {"maxValidityDays": 6999}})), "lifetimeInDays", "6999 days"),
    ] {
        let body = with(body, "name", json!("New"));
        let answer = admin.post("/api/admin/localca", &body).await;

        assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()), "{body}");
        let fault = &answer.json()["fields"][0];
        assert_eq!(fault["field"], field, "{body}: {}", answer.text);
        assert!(fault["message"].as_str().unwrap().contains(said), "{body}: {fault}");
    }
    assert_eq!(api.fake.signer().keys.len(), keys, "no key was made");
}

#[tokio::test]
async fn empty_lists_of_name_constraints_are_absent() {
    let api = with_a_key_store().await;
    let constraints = json!({"permitted": null, "excluded": ["DNS:a.test", null, ""]});
    let body = with(root(), "nameConstraints", constraints);

    let made = api.administrator().post("/api/admin/localca", &body).await.json();

    let kept = json!({"permitted": [], "excluded": ["DNS:a.test"]});
    assert_eq!(made["nameConstraints"], kept, "{made}");
}

#[tokio::test]
async fn domains_of_a_policy_are_bare_and_kept_in_lower_case() {
    let api = with_a_key_store().await;
    let admin = api.administrator();
    for (domain, said) in [
        ("*.example.test", "write example.test"),
        (".Example.test", "write example.test"),
        ("example.test.", "write example.test"),
        ("*.", "is no domain"),
        ("*.*.example.test", "write example.test"),
        ("192.0.2.1", "is no domain"),
        ("https://example.test", "is no domain"),
        ("", "is no domain"),
    ] {
        let answer = admin
            .post("/api/admin/localca", &with(root(), "policy", json!({"domains": [domain]})))
            .await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{domain}");
        let fault = &answer.json()["fields"][0];
        assert_eq!(fault["field"], "policy.domains[0]", "{domain}");
        assert!(fault["message"].as_str().unwrap().contains(said), "{domain}: {fault}");
    }

    let sound = json!({"domains": ["Example.TEST", "münchen.test"]});
    let made = admin.post("/api/admin/localca", &with(root(), "policy", sound)).await.json();

    let kept = json!(["example.test", "xn--mnchen-3ya.test"]);
    assert_eq!(made["policy"]["domains"], kept, "{made}");
}

#[tokio::test]
async fn a_name_that_a_live_ca_has_is_taken() {
    let api = with_a_key_store().await;
    let admin = api.administrator();
    admin.post("/api/admin/localca", &root()).await;

    let again = admin.post("/api/admin/localca", &root()).await;

    assert_eq!(again.refusal(), (409, "name_taken".to_owned()));
    assert_eq!(api.fake.signer().keys.len(), 1);
}

#[tokio::test]
async fn a_ca_that_waits_for_the_operator_is_live_once_it_is_approved_and_reconciled() {
    let api = with_a_key_store().await;
    let admin = api.administrator();
    admin.post("/api/admin/localca", &root()).await;
    api.fake.signer().approve_cas = true;
    let waiting = admin.post("/api/admin/localca", &below()).await.json();
    assert_eq!(waiting["status"], "awaiting approval");
    let path = format!("/api/admin/localca/{}", waiting["id"].as_str().unwrap());

    let approval_id = *api.fake.signer().approvals.keys().next().unwrap();
    api.fake.signer().approve(approval_id);
    resume_once(&api.state).await.unwrap();
    assert_eq!(admin.get(&path).await.json()["status"], "awaiting approval");
    // What was signed a moment ago may still belong to a request.
    api.clock.advance(time::Duration::seconds(60));
    reconcile::run_once(&api.state).await.unwrap();
    resume_once(&api.state).await.unwrap();

    let live = admin.get(&path).await.json();
    assert_eq!(live["status"], "live");
    let record = admin.get(&format!("/api/certs/{}", live["certId"].as_str().unwrap())).await;
    let history = &record.json()["history"];
    let events = [0, 1].map(|index| history[index]["event"].clone());
    assert_eq!(events, ["created", "recovered"]);
}

#[tokio::test]
async fn only_administrators_see_and_make_local_cas() {
    let api = with_a_key_store().await;

    assert_eq!(api.member().get("/api/admin/localca").await.status, 403);
    assert_eq!(api.member().post("/api/admin/localca", &root()).await.status, 403);
    assert_eq!(api.anonymous().get("/api/admin/localca").await.status, 401);
}
