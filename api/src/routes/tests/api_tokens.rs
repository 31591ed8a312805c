//! API tokens: shown once, ended one by one.

use std::convert::Infallible;

use axum::body::Body;
use axum::http::Method;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use serde_json::{Value, json};
use time::Duration;
use tokio::sync::oneshot;

use crate::testing::{Answer, Api, PASSWORD, Persona, api};

const OWN: &str = "/api/currentuser/apitokens";

async fn make(api: &Api, by: &Persona, path: &str) -> (Value, Persona) {
    let made = by.post(path, &json!({"name": "ci", "validDays": 2})).await.json();
    let machine = api.with_token(made["token"].as_str().map(str::to_owned));
    (made, machine)
}

#[tokio::test]
async fn a_token_is_shown_once_works_and_ends_by_itself() {
    let api = api().await;
    let member = api.member();

    let answer = member.post(OWN, &json!({"name": "ci", "validDays": 2})).await;

    let made = answer.json();
    let token = made["token"].as_str().unwrap().to_owned();
    assert_eq!(answer.headers[CACHE_CONTROL], "no-store");
    let expected = json!({
        "id": made["id"], "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "member",
        "name": "ci", "expires": "2026-11-30T02:00:00.000+00:00",
    });
    assert_eq!(member.get(OWN).await.json(), json!([expected]), "never with its secret");
    let secret = token.rsplit('_').next().unwrap();
    let stored = api.state.store.api_tokens_of(api.member_id()).await.unwrap();
    assert!(!stored[0].secret_hash.contains(secret));
    let machine = api.with_token(Some(token));
    assert_eq!(machine.get("/api/currentuser").await.json()["username"], "member");
    assert_eq!(machine.get("/api/admin/users").await.status, 403);
    api.clock.advance(time::Duration::days(2));
    let late = machine.get("/api/currentuser").await;
    assert_eq!(late.refusal(), (401, "token_expired".to_owned()));
    assert_eq!(api.member().get(OWN).await.json(), json!([]));
}

#[tokio::test]
async fn tokens_are_ended_one_by_one_by_their_user_or_an_administrator() {
    let api = api().await;
    let (admin, member) = (api.administrator(), api.member());
    let of_user = format!("/api/admin/users/{}/apitokens", api.member_id());
    let (first, of_first) = make(&api, &member, OWN).await;
    let (second, of_second) = make(&api, &admin, &of_user).await;
    let (_, of_third) = make(&api, &member, OWN).await;
    let at = |path: &str, made: &Value| format!("{path}/{}", made["id"].as_str().unwrap());
    assert_eq!(second["createdBy"], "admin");
    assert_eq!(admin.get(&of_user).await.json().as_array().unwrap().len(), 3);

    let foreign = admin.delete(&at(OWN, &first)).await;
    let other = format!("/api/admin/users/{}/apitokens", api.admin_id());
    let misplaced = admin.delete(&at(&other, &first)).await;
    assert_eq!(member.delete(&at(OWN, &second)).await.status, 200);
    assert_eq!(admin.delete(&at(&of_user, &first)).await.status, 200);

    for refused in [foreign, misplaced, member.delete(&at(OWN, &first)).await] {
        assert_eq!(refused.refusal(), (404, "not_found".to_owned()));
    }
    for ended in [of_first, of_second] {
        let answer = ended.get("/api/currentuser").await;
        assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()));
    }
    assert_eq!(of_third.get("/api/currentuser").await.status, 200);
    assert_eq!(of_third.post("/api/logout", &json!({})).await.status, 200);
    assert_eq!(of_third.get("/api/currentuser").await.status, 401, "a logout ends it too");
}

#[tokio::test]
async fn a_token_makes_no_tokens_and_changes_no_password() {
    let api = api().await;
    let (_, machine) = make(&api, &api.administrator(), OWN).await;
    let of_user = format!("/api/admin/users/{}/apitokens", api.member_id());
    let change = json!({"oldPassword": PASSWORD, "newPassword": "another horse, battery"});

    for (path, body) in [
        (OWN, json!({"name": "another"})),
        (&of_user, json!({"name": "another"})),
        ("/api/currentuser/password", change),
    ] {
        let answer = machine.post(path, &body).await;
        assert_eq!(answer.refusal(), (403, "not_permitted".to_owned()), "{path}");
    }
}

#[tokio::test]
async fn name_and_days_are_bounded() {
    let api = api().await;
    let member = api.member();
    for (body, field) in [
        (json!({"name": ""}), "name"),
        (json!({"name": "x".repeat(101)}), "name"),
        (json!({"name": "x", "validDays": 0}), "validDays"),
        (json!({"name": "x", "validDays": 366}), "validDays"),
        (json!({"name": "x", "validDays": -1}), "validDays"),
    ] {
        let answer = member.post(OWN, &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{body}");
        assert_eq!(answer.json()["fields"][0]["field"], field, "{body}");
    }
    for _ in 0..100 {
        assert_eq!(member.post(OWN, &json!({"name": "x"})).await.status, 200);
    }
    let one_more = member.post(OWN, &json!({"name": "x"})).await;
    assert_eq!(one_more.refusal(), (409, "wrong_state".to_owned()));
}

#[tokio::test]
async fn a_token_that_is_not_quite_one_opens_nothing() {
    let api = api().await;
    let (made, _) = make(&api, &api.member(), OWN).await;
    let token = made["token"].as_str().unwrap();
    let (head, secret) = token.rsplit_once('_').unwrap();
    let turned: String = secret.chars().rev().collect();
    let of_none = format!("chancery_{}_{secret}", "0".repeat(24));
    for wrong in [
        format!("{head}_{turned}"),
        format!("{token}0"),
        head.to_owned(),
        format!("{head}_"),
        of_none,
        "chancery_".to_owned(),
        token.to_uppercase(),
    ] {
        let answer = api.with_token(Some(wrong.clone())).get("/api/currentuser").await;
        assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()), "{wrong}");
    }
}

#[tokio::test]
async fn who_must_change_the_password_has_no_use_of_tokens_either() {
    let api = api().await;
    let (_, machine) = make(&api, &api.member(), OWN).await;
    let path = format!("/api/admin/users/{}", api.member_id());

    api.administrator().put(&path, &json!({"mustChangePassword": true})).await;

    let answer = machine.get("/api/currentuser").await;
    assert_eq!(answer.refusal(), (403, "password_change_required".to_owned()));
    let answer = api.member().post(OWN, &json!({"name": "x"})).await;
    assert_eq!(answer.refusal(), (403, "password_change_required".to_owned()));
}

/// A body that comes once `meanwhile` is done, which begins when the service waits for it.
async fn held_back(
    api: &Api,
    persona: &Persona,
    (path, body): (&str, Value),
    meanwhile: impl Future<Output = ()>,
) -> Answer {
    let (begins, has_begun) = oneshot::channel();
    let (ends, has_ended) = oneshot::channel();
    let body = futures::stream::once(async move {
        begins.send(()).unwrap();
        has_ended.await.unwrap();
        Ok::<_, Infallible>(body.to_string())
    });
    let request = persona.request(Method::POST, path).header(CONTENT_TYPE, "application/json");
    let request = request.body(Body::from_stream(body)).unwrap();
    let meanwhile = async {
        has_begun.await.unwrap();
        api.clock.advance(Duration::seconds(1));
        meanwhile.await;
        ends.send(()).unwrap();
    };
    tokio::join!(persona.send(request), meanwhile).0
}

#[tokio::test]
async fn who_loses_their_rights_while_the_body_is_held_back_gets_nothing() {
    let api = api().await;
    let admin = api.administrator();
    let token = json!({"name": "build", "validDays": 1});
    let session = api.member();
    let logout = async { assert_eq!(session.get("/api/logouthere").await.status, 200) };

    let answer = held_back(&api, &session, ("/api/currentuser/apitokens", token), logout).await;

    assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()));
    let new = json!({"username": "other", "password": "a long password", "group": "ADMIN"});
    assert_eq!(admin.post("/api/admin/users", &new).await.status, 200);
    let other = api.state.store.account_named("other").await.unwrap().unwrap();
    let demoted = async {
        let path = format!("/api/admin/users/{}", other.id);
        assert_eq!(admin.put(&path, &json!({"group": "USER"})).await.status, 200);
    };
    let team = json!({"name": "Web"});
    let path = "/api/admin/teams";
    let answer = held_back(&api, &api.user(other.id), (path, team), demoted).await;
    assert_eq!(answer.refusal(), (403, "not_permitted".to_owned()));
    let nothing = async {};
    let answer = held_back(&api, &admin, (path, json!({"name": "Web"})), nothing).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}
