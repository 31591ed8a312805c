//! Nothing that a request says comes back whole where it is too long for a name.

use serde_json::{Value, json};

use crate::testing::api_with_issuer;

#[tokio::test]
async fn what_is_too_long_is_cut_wherever_a_message_repeats_it() {
    let api = api_with_issuer().await;
    let long = "ü".repeat(20_000);
    let csr = "/api/certs/requestp10";
    let profile = |name: &str, value: Value| {
        let mut body = json!({
            "name": "Web", "lifetimeInMinutes": 1440, "keyUsages": ["Digital Signature"],
            "enhancedKeyUsages": ["Server Authentication"],
        });
        body[name] = value;
        ("/api/admin/profiles", body)
    };
    let ca = |name: &str, value: Value| {
        let mut body = json!({
            "name": "New", "keyStoreName": "Local Token", "rootCa": true, "subjectDn": "CN=New",
            "lifetimeInDays": 100, "keyAlgorithm": "ECDSA P-256",
        });
        body[name] = value;
        ("/api/admin/localca", body)
    };
    let issuer = |name: &str, value: Value| {
        let mut body = json!({
            "caName": "New", "localCaName": "Chancery Issuing CA",
            "certProfileName": "TLS Server and Client",
        });
        body[name] = value;
        ("/api/admin/ca", body)
    };

    for (path, body) in [
        (csr, json!({"caName": long, "csr": "x"})),
        (csr, json!({"issuerId": long, "csr": "x"})),
        (csr, json!({"caName": "Chancery Issuer", "teamName": long, "csr": "x"})),
        (csr, json!({"caName": "Chancery Issuer", "teamId": long, "csr": "x"})),
        (csr, json!({"caName": "Chancery Issuer", "csr": "x", long.as_str(): 1})),
        profile("keyUsages", json!([long])),
        profile("enhancedKeyUsages", json!([long])),
        profile("allowedKeyAlgorithms", json!([long])),
        profile("policies", json!([long])),
        profile("allowedSanTypes", json!([long])),
        profile("subjectRules", json!({"required": [long]})),
        profile("subjectRules", json!({"allowedDomains": [long]})),
        profile("subjectRules", json!({long.as_str(): true})),
        profile("customExtensions", json!([{"oid": long, "value": "BQA="}])),
        ca("keyStoreName", json!(long)),
        ca("keyAlgorithm", json!(long)),
        ca("subjectDn", json!(format!("{}=x", "x".repeat(8000)))),
        ca("nameConstraints", json!({"permitted": [long]})),
        ca("nameConstraints", json!({"excluded": [format!("DNS:.{}example", "a.".repeat(100))]})),
        ca("policy", json!({long.as_str(): 1})),
        ca("policy", json!({"sanTypes": [long]})),
        ca("policies", json!([long])),
        issuer("localCaName", json!(long)),
        issuer("certProfileName", json!(long)),
        issuer("allowedGenerators", json!([long])),
        issuer("teams", json!([long])),
        ("/api/admin/keystores", json!({"name": "New", "token": long})),
        ("/api/admin/teams", json!({"name": "New", "members": [long]})),
        ("/api/admin/teams", json!({"name": "New", "ipWhiteList": long})),
    ] {
        let answer = api.administrator().post(path, &body).await;

        let found = answer.json();
        let message = found["message"].as_str().unwrap_or_default();
        assert!(answer.status.is_client_error(), "{path}: {:.200}", answer.text);
        let length = answer.text.chars().count();
        assert!(length < 1500, "{path} {length}: {message:.300}");
    }
}
