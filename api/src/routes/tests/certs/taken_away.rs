//! The issuer or the team of a request is taken away while the request is under way.

use std::sync::Arc;

use axum::http::Method;
use chancery_shared::wire::v1::Request;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::yield_now;

use super::{ISSUER, body};
use crate::app::router;
use crate::signer_client::fake_signer::Reaction;
use crate::testing::{Api, Persona, api_with_issuer};

/// How an administrator takes it away, and what a DN request that is too late is told.
const WAYS: [(&str, Method, &str, (u16, &str)); 12] = [
    ("deleted", Method::DELETE, "/api/admin/ca/{issuer}", (422, "unknown_issuer")),
    ("forced", Method::DELETE, "/api/admin/ca/{issuer}/force", (422, "unknown_issuer")),
    ("withdrawn", Method::PUT, "/api/admin/ca/{issuer}", (403, "not_permitted")),
    ("no DNs", Method::PUT, "/api/admin/ca/{issuer}", (422, "policy_violation")),
    ("no such keys", Method::PUT, "/api/admin/ca/{issuer}", (422, "policy_violation")),
    ("left", Method::PUT, "/api/admin/users/{member}", (403, "not_a_member")),
    ("put out", Method::PUT, "/api/admin/teams/{team}", (403, "not_a_member")),
    ("other addresses", Method::PUT, "/api/admin/teams/{team}", (403, "address_not_allowed")),
    ("disabled", Method::PUT, "/api/admin/users/{member}", (401, "token_invalid")),
    ("new password", Method::PUT, "/api/admin/users/{member}", (401, "token_invalid")),
    ("demoted", Method::PUT, "/api/admin/users/{member}", (403, "not_permitted")),
    ("user deleted", Method::DELETE, "/api/admin/users/{member}", (401, "token_invalid")),
];

/// What must be so for the way to matter.
async fn prepare(api: &Api, way: usize) {
    if WAYS[way].0 == "demoted" {
        // Administrators may use every issuer.
        let admin = api.administrator();
        let issuer = admin.get("/api/admin/ca").await.json()[0]["id"].as_str().unwrap().to_owned();
        let theirs = json!({"teams": ["Administrators"]});
        assert_eq!(admin.put(&format!("/api/admin/ca/{issuer}"), &theirs).await.status, 200);
        let member = format!("/api/admin/users/{}", api.member_id());
        assert_eq!(admin.put(&member, &json!({"group": "ADMIN"})).await.status, 200);
    }
}

async fn take_away(api: &Api, admin: &Persona, way: usize) -> u16 {
    let issuer = admin.get("/api/admin/ca").await.json()[0]["id"].as_str().unwrap().to_owned();
    let (name, method, path, _) = &WAYS[way];
    let path = path
        .replace("{issuer}", &issuer)
        .replace("{member}", &api.member_id().to_string())
        .replace("{team}", &api.default_team.to_string());
    let change = match *name {
        "withdrawn" => json!({"teams": ["Administrators"]}),
        "no DNs" => json!({"allowDnRequests": false}),
        "no such keys" => json!({"allowedGenerators": ["RSA 3072"]}),
        "left" => json!({"teamsIds": []}),
        "put out" => json!({"members": []}),
        "other addresses" => json!({"ipWhiteList": "192.0.2.0/24"}),
        "disabled" => json!({"enabled": false}),
        "new password" => json!({"password": "another long password"}),
        _ => json!({"group": "USER"}),
    };
    let answer = if *method == Method::PUT {
        admin.put(&path, &change).await
    } else {
        admin.delete(&path).await
    };
    answer.status.as_u16()
}

/// Lets each request that `holds` names wait for the second, and says by the first that one does.
fn hold(api: &Api, holds: fn(&Request) -> bool) -> (Arc<Notify>, Arc<Notify>) {
    let (came, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (tell, told) = (Arc::clone(&came), Arc::clone(&go_on));
    api.fake.script(move |request| {
        if !holds(request) {
            return Reaction::Answer;
        }
        tell.notify_one();
        Reaction::AnswerWhen(Arc::clone(&told))
    });
    (came, go_on)
}

/// Ids of all records; the member may be gone.
async fn records(api: &Api) -> Vec<String> {
    let all = api.administrator().get("/api/certs").await.json();
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().map(id).collect()
}

#[tokio::test]
async fn who_takes_it_away_is_answered_after_what_is_being_signed_is_recorded() {
    for (way, (name, ..)) in WAYS.iter().enumerate() {
        let api = api_with_issuer().await;
        prepare(&api, way).await;
        let (came, go_on) = hold(&api, |request| matches!(request, Request::SignCertificate(_)));
        let (member, admin) = (api.member(), api.administrator());
        let before = records(&api).await;
        let version = api.state.store.inventory_version().await.unwrap();

        let request = async move { member.post("/api/certs/requestp10", &body()).await };
        let request = tokio::spawn(request);
        came.notified().await;
        let mut taking = std::pin::pin!(take_away(&api, &admin, way));
        let is_committed = async {
            while api.state.store.inventory_version().await.unwrap() == version {
                yield_now().await;
            }
        };
        tokio::select! { _ = &mut taking => panic!("{name}: too early"), () = is_committed => {} }
        go_on.notify_one();

        assert_eq!(taking.await, 200, "{name}");
        assert_eq!(records(&api).await.len(), before.len() + 1, "{name}: recorded too late");
        let issued = request.await.unwrap();
        assert_eq!(issued.status, 200, "{name}: {}", issued.text);
    }
}

#[tokio::test]
async fn a_change_of_an_issuer_that_takes_nothing_away_waits_for_nobody() {
    let api = api_with_issuer().await;
    let (member, admin) = (api.member(), api.administrator());
    let issuer = admin.get("/api/admin/ca").await.json()[0]["id"].as_str().unwrap().to_owned();
    let issuer = format!("/api/admin/ca/{issuer}");
    let narrow = json!({"teams": ["Default"], "allowedGenerators": ["RSA 3072"]});
    assert_eq!(admin.put(&issuer, &narrow).await.status, 200);
    let (came, go_on) = hold(&api, |request| matches!(request, Request::SignCertificate(_)));
    let request = tokio::spawn(async move { member.post("/api/certs/requestp10", &body()).await });
    came.notified().await;

    for change in [
        json!({"teams": ["Default", "Administrators"]}),
        json!({"allowedGenerators": ["RSA 3072", "ECDSA P-256"]}),
        json!({"teams": [], "allowedGenerators": [], "allowDnRequests": true}),
        json!({"caName": "Another name"}),
    ] {
        let changed = admin.put(&issuer, &change).await;
        assert_eq!(changed.status, 200, "{change}: {}", changed.text);
    }

    go_on.notify_one();
    assert_eq!(request.await.unwrap().status, 200);
}

#[tokio::test]
async fn what_was_not_asked_for_yet_when_it_is_taken_away_is_never_signed() {
    for way in 0..WAYS.len() {
        let api = api_with_issuer().await;
        taken_away_before_it_is_asked_for(&api, &api.administrator(), way).await;
    }
}

#[tokio::test]
async fn nor_is_it_where_another_process_takes_it_away() {
    for way in 0..WAYS.len() {
        let api = api_with_issuer().await;
        let other = api.second_process().await;
        api.state.purge_guard.pause(&api.state).await.unwrap();
        other.purge_guard.pause(&other).await.unwrap();
        let admin = api.administrator().at(router(&other));
        taken_away_before_it_is_asked_for(&api, &admin, way).await;
    }
}

/// A DN request, which first waits for the key that its private key is sealed under.
async fn taken_away_before_it_is_asked_for(api: &Api, by: &Persona, way: usize) {
    let (name, .., (status, code)) = &WAYS[way];
    let kept = json!({"privateKeyRetentionPeriod": {"value": 1, "unit": "days"}});
    assert_eq!(api.administrator().put("/api/admin/settings", &kept).await.status, 200);
    prepare(api, way).await;
    let before = records(api).await;
    let (came, go_on) = hold(api, |request| matches!(request, Request::Seal(_)));
    let member = api.member();
    let body = json!({
        "caName": ISSUER, "dn": "CN=www.example.test", "csrGeneratorName": "ECDSA P-256",
        "p12Password": "open sesame",
    });

    let request = member.post("/api/certs/request", &body);
    let mut request = std::pin::pin!(request);
    tokio::select! { _ = &mut request => panic!("it is held"), () = came.notified() => {} }
    assert_eq!(take_away(api, by, way).await, 200, "{name}");
    go_on.notify_one();
    let refused = request.await;

    assert_eq!(refused.refusal(), (*status, (*code).to_owned()), "{name}: {}", refused.text);
    assert_eq!(records(api).await, before, "{name}");
}
