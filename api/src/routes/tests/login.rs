//! Login, logout and the life of a token.

use axum::http::header;
use serde_json::{Value, json};

use crate::testing::{Api, PASSWORD, api};

async fn log_in(api: &Api, username: &str, password: &str) -> crate::testing::Answer {
    let body = json!({"username": username, "password": password});
    api.anonymous().post("/api/login", &body).await
}

#[tokio::test]
async fn a_login_answers_the_username_as_stored_and_a_token_that_works() {
    let api = api().await;

    let answer = log_in(&api, "MEMBER", PASSWORD).await;

    let body = answer.json();
    let token = body["token"].as_str().unwrap().to_owned();
    assert_eq!(body, json!({"username": "member", "token": token}));
    assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
    let user = api.with_token(Some(token)).get("/api/currentuser").await.json();
    assert_eq!(user["username"], "member");
}

#[tokio::test]
async fn every_failed_login_answers_the_same() {
    let api = api().await;
    let locked = crate::testing::insert_user(&api.state, "locked", &[]).await;
    set(&api, &format!("UPDATE account SET locked = 1 WHERE user_id = '{locked}'")).await;
    let mut bodies = Vec::new();
    for (username, password) in [
        ("member", "wrong password!"),
        ("member", ""),
        ("nobody", PASSWORD),
        ("", ""),
        ("locked", PASSWORD),
        ("admin' OR '1'='1", "x"),
        ("member", &"x".repeat(10_000)),
    ] {
        let answer = log_in(&api, username, password).await;
        assert_eq!(answer.refusal(), (401, "bad_credentials".to_owned()), "{username}");
        let mut body = answer.json();
        body["requestId"] = Value::Null;
        bodies.push(body);
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    let of_nobody = api.state.store.fact("failed-logins-of-nobody").await.unwrap();
    assert_eq!(of_nobody.as_deref(), Some("4"), "each is written down, as a user's is");
}

#[tokio::test]
async fn a_login_of_the_wrong_shape_is_a_400_that_names_the_field() {
    let api = api().await;
    for (body, field) in [
        (json!({"username": "admin", "password": ["x"]}), "password"),
        (json!({"username": {"$ne": ""}, "password": {"$ne": ""}}), "password"),
        (json!({"username": "admin"}), "password"),
        (json!({"username": "admin", "password": "x", "admin": true}), "admin"),
    ] {
        let answer = api.anonymous().post("/api/login", &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{body}");
        assert_eq!(answer.json()["fields"][0]["field"], field, "{body}");
    }
    for body in [json!([]), json!("x"), json!(null)] {
        let answer = api.anonymous().post("/api/login", &body).await;
        assert_eq!(answer.refusal(), (400, "malformed_request".to_owned()), "{body}");
    }
}

#[tokio::test]
async fn failed_and_passed_logins_are_remembered() {
    let api = api().await;
    log_in(&api, "member", "wrong password!").await;
    log_in(&api, "member", "wrong password!").await;
    let path = format!("/api/admin/users/{}", api.member_id());

    let before = api.administrator().get(&path).await.json();
    log_in(&api, "member", PASSWORD).await;
    let after = api.administrator().get(&path).await.json();

    assert_eq!(before["numFailedLoginAttempts"], 2);
    assert_eq!(before["lastLoginTime"], Value::Null);
    assert_eq!(after["numFailedLoginAttempts"], 0);
    assert_eq!(after["lastLoginTime"], "2026-11-28T02:00:00.000+00:00");
}

#[tokio::test]
async fn a_logout_ends_this_token_alone() {
    let api = api().await;
    let (one, two, three) = (api.member(), api.member(), api.member());

    assert_eq!(one.post("/api/logout", &json!({})).await.status, 200);
    assert_eq!(two.get("/api/logouthere").await.status, 200);

    for ended in [one, two] {
        let answer = ended.get("/api/currentuser").await;
        assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()));
    }
    assert_eq!(three.get("/api/currentuser").await.status, 200);
}

#[tokio::test]
async fn a_token_ends_with_its_time_its_user_and_its_version() {
    let api = api().await;
    let member = api.member();
    api.clock.advance(time::Duration::hours(8) - time::Duration::SECOND);
    assert_eq!(member.get("/api/currentuser").await.status, 200);
    api.clock.advance(time::Duration::SECOND);
    let expired = member.get("/api/currentuser").await;
    assert_eq!(expired.refusal(), (401, "token_expired".to_owned()));

    for (sql, undo) in [
        ("UPDATE account SET enabled = 0", "UPDATE account SET enabled = 1"),
        ("UPDATE account SET token_version = 2", "UPDATE account SET token_version = 1"),
    ] {
        let member = api.member();
        assert_eq!(member.get("/api/currentuser").await.status, 200);
        set(&api, sql).await;
        let answer = member.get("/api/currentuser").await;
        assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()), "{sql}");
        set(&api, undo).await;
    }
    let nobody = api.user(chancery_shared::id::UserId::from_bytes([3; 12]));
    let answer = nobody.get("/api/currentuser").await;
    assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()));
}

#[tokio::test]
async fn who_must_change_the_password_can_do_nothing_else() {
    let api = api().await;
    set(&api, "UPDATE account SET must_change_password = 1").await;

    let login = log_in(&api, "admin", PASSWORD).await.json();
    let admin = api.with_token(login["token"].as_str().map(str::to_owned));
    for path in ["/api/currentuser", "/api/admin/users"] {
        let answer = admin.get(path).await;
        assert_eq!(answer.refusal(), (403, "password_change_required".to_owned()), "{path}");
    }
    let change = json!({"oldPassword": PASSWORD, "newPassword": "another horse, battery"});
    let changed = admin.post("/api/currentuser/password", &change).await;

    assert_eq!(login["mustChangePassword"], true);
    assert_eq!((changed.status.as_u16(), changed.json()), (200, json!({})));
    let again = log_in(&api, "admin", "another horse, battery").await.json();
    assert_eq!(again.get("mustChangePassword"), None);
    let admin = api.with_token(again["token"].as_str().map(str::to_owned));
    assert_eq!(admin.get("/api/admin/users").await.status, 200);
}

async fn set(api: &Api, sql: &str) {
    api.state.store.execute_for_test(sql).await;
}
