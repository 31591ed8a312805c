//! Which issuer is meant, and who may use it.

use serde_json::{Value, json};

use super::{ISSUER, body, fields, request, with};
use crate::store::account::Group;
use crate::testing::{Api, api_with_issuer, insert_team, insert_user};

async fn issuer_id(api: &Api, name: &str) -> String {
    api.state.store.live_cert_issuer_named(name).await.unwrap().unwrap().id.to_string()
}

/// An issuer like the first one, with these fields added.
async fn make_issuer(api: &Api, name: &str, fields: Value) -> String {
    let mut body = json!({
        "caName": name, "localCaName": "Chancery Issuing CA",
        "certProfileName": "TLS Server and Client",
    });
    let Value::Object(fields) = fields else { panic!("{fields} is no object") };
    body.as_object_mut().unwrap().extend(fields);
    let made = api.administrator().post("/api/admin/ca", &body).await;
    assert_eq!(made.status, 200, "{}", made.text);
    made.json()["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_issuer_is_named_by_name_or_id_or_both() {
    let api = api_with_issuer().await;
    let id = issuer_id(&api, ISSUER).await;
    for named in [
        json!({"caName": ISSUER}),
        json!({"caName": id}),
        json!({"caName": null, "issuerName": ISSUER}),
        json!({"caName": "", "issuerId": id}),
        json!({"caName": ISSUER, "issuerName": ISSUER, "issuerId": id}),
    ] {
        let answer = request(&api.member(), &with(named.clone())).await;
        assert_eq!(answer.status, 200, "{named}: {}", answer.text);
    }
}

#[tokio::test]
async fn the_id_of_an_issuer_is_never_taken_for_the_name_of_another() {
    let api = api_with_issuer().await;
    let id = issuer_id(&api, ISSUER).await;
    make_issuer(&api, "Other", json!({})).await;
    let sql = format!("UPDATE cert_issuer SET name = '{id}' WHERE name = 'Other'");
    api.state.store.execute_for_test(&sql).await;

    let answer = request(&api.member(), &with(json!({"caName": id}))).await.json();

    let path = format!("/api/certs/{}", answer["id"].as_str().unwrap());
    assert_eq!(api.member().get(&path).await.json()["caId"], id.as_str());
}

#[tokio::test]
async fn what_names_no_live_issuer_is_refused_with_the_field() {
    let api = api_with_issuer().await;
    let other = make_issuer(&api, "Other", json!({})).await;
    let gone = make_issuer(&api, "Gone", json!({})).await;
    let delete = "UPDATE cert_issuer SET deleted_at = 1 WHERE name = 'Gone'";
    api.state.store.execute_for_test(delete).await;
    let (unknown, invalid) = ((422, "unknown_issuer"), (400, "invalid_request"));
    for (named, (status, code), field) in [
        (json!({"caName": "no such ca"}), unknown, "caName"),
        (json!({"caName": "Gone"}), unknown, "caName"),
        (json!({"caName": gone}), unknown, "caName"),
        (json!({"caName": format!("{ISSUER}\u{200b}")}), unknown, "caName"),
        (json!({"caName": format!(" {ISSUER}")}), unknown, "caName"),
        (json!({"caName": null, "issuerName": "chancery issuer"}), unknown, "issuerName"),
        (json!({"caName": null, "issuerId": ISSUER}), unknown, "issuerId"),
        (json!({"caName": null, "issuerId": gone}), unknown, "issuerId"),
        (json!({"caName": null}), invalid, "caName"),
        (json!({"caName": [""]}), invalid, "caName"),
        (json!({"issuerName": "Other"}), invalid, "issuerName"),
        (json!({"issuerId": other}), invalid, "issuerId"),
    ] {
        let answer = request(&api.member(), &with(named.clone())).await;
        assert_eq!(answer.refusal(), (status, code.to_owned()), "{named}");
        assert_eq!(fields(&answer), [field], "{named}");
    }
}

#[tokio::test]
async fn an_issuer_with_teams_is_for_them_and_for_administrators() {
    let api = api_with_issuer().await;
    let team = insert_team(&api.state, "Web", Group::Users).await;
    make_issuer(&api, "Web CA", json!({"teams": ["Web"]})).await;
    let both = insert_user(&api.state, "both", &[team, api.default_team]).await;
    let body = |team: &str| with(json!({"caName": "Web CA", "teamName": team}));

    let foreign = request(&api.member(), &body("Default")).await;
    let wrong_team = request(&api.user(both), &body("Default")).await;
    let right_team = request(&api.user(both), &body("Web")).await;
    let administrator = request(&api.administrator(), &body("Administrators")).await;

    for refused in [foreign, wrong_team] {
        assert_eq!(refused.refusal(), (403, "not_permitted".to_owned()));
        assert_eq!(
            refused.json()["message"],
            "the team Default may not use Web CA; name another issuer, or a team of yours that may"
        );
    }
    assert_eq!(right_team.status, 200, "{}", right_team.text);
    assert_eq!(administrator.status, 200, "{}", administrator.text);
}

#[tokio::test]
async fn an_issuer_for_dn_requests_alone_takes_no_csr() {
    let api = api_with_issuer().await;
    make_issuer(&api, "DN alone", json!({"allowCsrRequests": false})).await;

    let answer = request(&api.member(), &with(json!({"caName": "DN alone"}))).await;

    assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()));
}

#[tokio::test]
async fn the_team_rule_holds_for_requests() {
    let api = api_with_issuer().await;
    let web = insert_team(&api.state, "Web", Group::Users).await;
    let two = insert_user(&api.state, "two", &[web, api.default_team]).await;
    let loner = insert_user(&api.state, "loner", &[]).await;

    let unnamed = request(&api.user(two), &body()).await;
    let named = request(&api.user(two), &with(json!({"teamId": web}))).await;
    let none = request(&api.user(loner), &body()).await;
    let foreign = request(&api.member(), &with(json!({"teamName": "Web"}))).await;
    let unknown = request(&api.member(), &with(json!({"teamName": "no such team"}))).await;

    assert_eq!(unnamed.refusal(), (400, "team_required".to_owned()));
    assert_eq!(none.refusal(), (422, "no_team".to_owned()));
    assert_eq!(foreign.refusal(), (403, "not_a_member".to_owned()));
    assert_eq!(unknown.refusal(), (422, "unknown_team".to_owned()));
    let path = format!("/api/certs/{}", named.json()["id"].as_str().unwrap());
    let record = api.member().get(&path).await.json();
    assert_eq!((&record["teamId"], &record["teamName"]), (&json!(web), &json!("Web")));
}
