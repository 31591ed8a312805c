//! Changing Certificate Issuers, and changing and deleting profiles.

use serde_json::{Value, json};

use crate::testing::{Api, api_with_issuer};

async fn first(api: &Api, path: &str) -> Value {
    api.administrator().get(path).await.json()[0].clone()
}

fn at(path: &str, item: &Value) -> String {
    format!("{path}/{}", item["id"].as_str().unwrap())
}

#[tokio::test]
async fn an_issuer_changes_in_all_but_its_ca() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let before = first(&api, "/api/admin/ca").await;
    let path = at("/api/admin/ca", &before);

    let same = admin.put(&path, &json!({"localCaId": before["localCaId"]})).await.json();
    let body = json!({
        "caName": "Web Issuer", "allowDnRequests": false, "allowCsrRequests": false,
        "allowedGenerators": ["RSA 2048", "RSA 2048"], "teams": ["Default"],
    });
    let changed = admin.put(&path, &body).await.json();

    assert_eq!(same, before);
    let mut expected = before.clone();
    expected["caName"] = json!("Web Issuer");
    expected["allowDnRequests"] = json!(false);
    expected["allowCsrRequests"] = json!(false);
    expected["allowedGenerators"] = json!(["RSA 2048"]);
    expected["teams"] = json!([api.default_team]);
    assert_eq!(changed, expected);
    let opened = admin.put(&path, &json!({"teams": [], "allowedGenerators": null})).await.json();
    assert_eq!((&opened["teams"], &opened["allowedGenerators"]), (&json!([]), &json!([])));
}

#[tokio::test]
async fn a_change_of_an_issuer_that_can_not_be_is_refused_with_its_field() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let path = at("/api/admin/ca", &first(&api, "/api/admin/ca").await);
    for (body, refusal, field) in [
        (json!({"localCaId": "0".repeat(24)}), (400, "invalid_request"), "localCaId"),
        (json!({"caName": " x"}), (400, "invalid_request"), "caName"),
        (json!({"teams": ["none"]}), (422, "unknown_reference"), "teams[0]"),
        (json!({"certProfileName": "none"}), (422, "unknown_reference"), "certProfileName"),
        (json!({"allowedGenerators": ["x"]}), (422, "unknown_generator"), "allowedGenerators[0]"),
    ] {
        let answer = admin.put(&path, &body).await;
        assert_eq!(answer.refusal(), (refusal.0, refusal.1.to_owned()), "{body}");
        assert_eq!(answer.json()["fields"][0]["field"], field, "{body}");
    }
    let missing = admin.put(&format!("/api/admin/ca/{}", "0".repeat(24)), &json!({})).await;
    assert_eq!(missing.refusal(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_profile_is_given_anew_and_deleted_when_no_issuer_has_it() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let used = first(&api, "/api/admin/profiles").await;
    let body = json!({
        "name": "Short", "lifetimeInMinutes": 60, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"],
    });
    let made = admin.post("/api/admin/profiles", &body).await.json();
    let path = at("/api/admin/profiles", &made);

    let mut longer = body.clone();
    longer["lifetimeInMinutes"] = json!(120);
    longer["name"] = json!("Longer");
    let changed = admin.put(&path, &longer).await.json();
    let refused = admin.delete(&at("/api/admin/profiles", &used)).await;
    let deleted = admin.delete(&path).await.json();

    assert_eq!((&changed["name"], &changed["lifetimeInMinutes"]), (&json!("Longer"), &json!(120)));
    assert_eq!((&changed["id"], &changed["created"]), (&made["id"], &made["created"]));
    assert_eq!(refused.refusal(), (409, "in_use".to_owned()));
    let dependant = refused.json()["dependants"][0].clone();
    assert_eq!((&dependant["kind"], &dependant["name"]), (&json!("ca"), &json!("Chancery Issuer")));
    assert_eq!(deleted, changed);
    assert_eq!(admin.get(&path).await.status, 404);
    longer["name"] = used["name"].clone();
    let again = admin.post("/api/admin/profiles", &body).await.json();
    let taken = admin.put(&at("/api/admin/profiles", &again), &longer).await;
    assert_eq!(taken.refusal(), (409, "name_taken".to_owned()));
}

#[tokio::test]
async fn a_changed_profile_holds_for_the_next_request() {
    let api = api_with_issuer().await;
    let profile = first(&api, "/api/admin/profiles").await;
    let body = json!({
        "name": profile["name"], "lifetimeInMinutes": 60, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"], "allowedKeyAlgorithms": ["RSA 4096"],
    });
    let dn = json!({
        "caName": "Chancery Issuer", "dn": "CN=www.example.test",
        "csrGeneratorName": "ECDSA P-256", "p12Password": "secret of mine",
    });
    assert_eq!(api.member().post("/api/certs/request", &dn).await.status, 200);

    let changed = api.administrator().put(&at("/api/admin/profiles", &profile), &body).await;

    assert_eq!(changed.status, 200, "{}", changed.text);
    let answer = api.member().post("/api/certs/request", &dn).await;
    assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()));
}
