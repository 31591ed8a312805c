//! `/admin/profiles`.

use chancery_shared::wire::policy::Policy;
use serde_json::{Value, json};

use crate::testing::{Api, api};

const ALL_SAN_TYPES: [&str; 8] = ["DNS", "IP", "EMAIL", "URI", "UPN", "OTHER", "DIRNAME", "RID"];
const ALL_KEYS: [&str; 5] = ["RSA 2048", "ECDSA P-256", "ECDSA P-384", "ECDSA P-521", "Ed25519"];

fn web() -> Value {
    json!({
        "name": "Web", "lifetimeInMinutes": 1440, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"],
    })
}

/// A service whose operator allows the extension `1.2.3.5`.
async fn with_an_extension() -> Api {
    let api = api().await;
    let other_extensions = vec!["1.2.3.5".to_owned()];
    api.allow(Policy { other_extensions, ..Policy::shipped() }).await;
    api
}

#[tokio::test]
async fn a_new_profile_is_answered_whole_and_found_again() {
    let api = with_an_extension().await;
    let admin = api.administrator();
    let body = json!({
        "name": "Web", "lifetimeInMinutes": 129_600, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication", "1.3.6.1.5.5.7.3.2"],
        "includeSansFromCsr": false, "addCnAsDnsSan": true, "allowWildcards": true,
        "allowedSanTypes": ["DNS", "IP"], "allowedKeyAlgorithms": ["ECDSA P-256"],
        "subjectRules": {"required": ["CN"], "allowedDomains": ["example.org"]},
        "policies": ["1.2.3.4"],
        "customExtensions": [{"oid": "1.2.3.5", "critical": false, "value": "BQA="}],
        "backdateMinutes": 5,
    });

    let made = admin.post("/api/admin/profiles", &body).await.json();

    let expected = json!({
        "id": made["id"], "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "admin",
        "name": "Web", "lifetimeInMinutes": 129_600, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication", "Client Authentication"],
        "includeSansFromCsr": false, "addCnAsDnsSan": true, "allowWildcards": true,
        "allowedSanTypes": ["DNS", "IP"], "allowedKeyAlgorithms": ["ECDSA P-256"],
        "subjectRules": {
            "required": ["CN"], "allowed": [], "allowedDomains": ["example.org"],
            "includeSubDomains": true, "allowedOrganizations": [], "allowedCountries": [],
            "denyOrganizationalUnits": false,
        },
        "policies": ["1.2.3.4"],
        "customExtensions": [{"oid": "1.2.3.5", "critical": false, "value": "BQA="}],
        "ocspNoCheck": false, "backdateMinutes": 5,
    });
    assert_eq!(made, expected);
    let path = format!("/api/admin/profiles/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.json(), expected);
    assert_eq!(admin.get("/api/admin/profiles").await.json(), json!([expected]));
}

#[tokio::test]
async fn what_is_left_out_or_empty_has_its_default() {
    let api = with_an_extension().await;
    let body = json!({
        "name": "Web", "lifetimeInMinutes": 1440, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"], "includeSansFromCsr": null,
        "allowedSanTypes": [], "allowedKeyAlgorithms": [""],
        "subjectRules": {"required": null, "allowed": [null], "includeSubDomains": null},
        "customExtensions": [null, {"oid": "1.2.3.5", "critical": null, "value": "BQA="}],
        "policies": [null], "backdateMinutes": "",
    });

    let made = api.administrator().post("/api/admin/profiles", &body).await.json();

    assert_eq!(made["includeSansFromCsr"], true, "{made}");
    assert_eq!(made["allowWildcards"], false);
    assert_eq!(made["allowedSanTypes"], json!(ALL_SAN_TYPES));
    assert_eq!(made["allowedKeyAlgorithms"], json!(ALL_KEYS));
    assert_eq!(made["backdateMinutes"], 0);
    assert_eq!(made["subjectRules"]["includeSubDomains"], true);
    assert_eq!(made["customExtensions"][0]["critical"], false);
}

#[tokio::test]
async fn a_profile_that_makes_no_certificate_is_refused_with_its_field() {
    let api = api().await;
    let sound = web();
    for (name, value, field) in [
        ("name", json!("Web "), "name"),
        ("lifetimeInMinutes", json!(0), "lifetimeInMinutes"),
        ("lifetimeInMinutes", json!("long"), "lifetimeInMinutes"),
        ("keyUsages", json!([]), "keyUsages"),
        ("keyUsages", json!(["CRL Sign"]), "keyUsages"),
        ("keyUsages", json!(["Anything"]), "keyUsages"),
        ("enhancedKeyUsages", json!([]), "enhancedKeyUsages"),
        ("allowedKeyAlgorithms", json!(["RSA 1024"]), "allowedKeyAlgorithms"),
        ("subjectRules", json!({"allowedDomains": ["*.example.org"]}), "subjectRules"),
        ("subjectRules", json!({"domains": []}), "subjectRules.domains"),
        ("ocspNoCheck", json!(true), "ocspNoCheck"),
        ("extKeyUsages", json!([]), "extKeyUsages"),
    ] {
        let mut body = sound.clone();
        body[name] = value.clone();

        let answer = api.administrator().post("/api/admin/profiles", &body).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{name}: {value}");
        assert_eq!(answer.json()["fields"][0]["field"], field, "{name}: {value}");
    }
    assert_eq!(api.administrator().get("/api/admin/profiles").await.json(), json!([]));
}

#[tokio::test]
async fn a_profile_name_is_taken_once() {
    let api = api().await;
    let body = web();
    api.administrator().post("/api/admin/profiles", &body).await;

    let answer = api.administrator().post("/api/admin/profiles", &body).await;

    assert_eq!(answer.refusal(), (409, "name_taken".to_owned()));
}

#[tokio::test]
async fn what_is_named_twice_is_kept_once_in_every_list() {
    let api = with_an_extension().await;
    let extension = json!({"oid": "1.2.3.5", "value": "BQA="});
    let body = json!({
        "name": "Web", "lifetimeInMinutes": 1440,
        "keyUsages": ["Digital Signature", "digitalSignature"],
        "enhancedKeyUsages": ["Server Authentication", "serverAuth", "1.3.6.1.5.5.7.3.1"],
        "allowedSanTypes": ["DNS", "DNS"], "allowedKeyAlgorithms": ["RSA 2048", "rsa 2048"],
        "subjectRules": {
            "required": ["CN", "2.5.4.3"], "allowed": ["CN", "cn"],
            "allowedDomains": ["a.test", "a.test"], "allowedOrganizations": ["A", "A"],
            "allowedCountries": ["DE", "DE"],
        },
        "policies": ["1.2.3.4", "1.2.3.4"], "customExtensions": [extension, extension],
    });

    let made = api.administrator().post("/api/admin/profiles", &body).await.json();

    let rules = &made["subjectRules"];
    for list in [
        &made["keyUsages"],
        &made["enhancedKeyUsages"],
        &made["allowedSanTypes"],
        &made["allowedKeyAlgorithms"],
        &rules["required"],
        &rules["allowed"],
        &rules["allowedDomains"],
        &rules["allowedOrganizations"],
        &rules["allowedCountries"],
        &made["policies"],
        &made["customExtensions"],
    ] {
        assert_eq!(list.as_array().unwrap().len(), 1, "{made}");
    }
}

#[tokio::test]
async fn what_the_operator_lets_no_key_sign_is_refused_by_its_field_when_it_is_saved() {
    let api = api().await;
    for (name, value) in [
        ("lifetimeInMinutes", json!(399 * 1440)),
        ("backdateMinutes", json!(61)),
        ("enhancedKeyUsages", json!(["Time Stamping"])),
        ("customExtensions", json!([{"oid": "1.2.3.5", "value": "BQA="}])),
    ] {
        let mut body = web();
        body[name] = value;

        let answer = api.administrator().post("/api/admin/profiles", &body).await;

        assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()), "{}", answer.text);
        assert_eq!(answer.json()["fields"][0]["field"], name, "{}", answer.text);
    }
    assert_eq!(api.administrator().get("/api/admin/profiles").await.json(), json!([]));
}

#[tokio::test]
async fn a_profile_that_an_older_key_may_sign_is_kept_whatever_the_operator_allows_now() {
    let api = with_an_extension().await;
    let admin = api.administrator();
    admin.post("/api/admin/keystores", &json!({"name": "Vault", "token": "local"})).await;
    let ca = json!({
        "name": "Root", "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=Root",
        "lifetimeInDays": 100, "keyAlgorithm": "ECDSA P-256", "policy": {"maxValidityDays": 90},
    });
    assert_eq!(admin.post("/api/admin/localca", &ca).await.status, 200);
    api.allow(Policy::shipped()).await;
    let mut body = web();
    body["customExtensions"] = json!([{"oid": "1.2.3.5", "value": "BQA="}]);

    let made = admin.post("/api/admin/profiles", &body).await;

    assert_eq!(made.status, 200, "{}", made.text);
}
