//! A way back in, on both engines.

use serde_json::{Value, json};

use super::*;
use crate::random::SystemRandom;
use crate::store::testing::both;
use crate::testing::{Api, PASSWORD, api, api_on};

const NEW: &str = "a way back in";

async fn made(api: &Api, username: &str, password: &str) -> Result<NewPassword, ResetError> {
    let password = Password::from(password.to_owned());
    NewPassword::make(&api.state.store, Arc::new(SystemRandom), username, password).await
}

async fn log_in(api: &Api, username: &str, password: &str) -> (u16, Value) {
    let login = json!({"username": username, "password": password});
    let answer = api.anonymous().post("/api/login", &login).await;
    (answer.status.as_u16(), answer.json())
}

#[tokio::test]
async fn a_locked_out_administrator_gets_in_and_must_change_the_password() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let shut = "UPDATE account SET enabled = 0, locked = 1, failed_logins = 99";
        api.state.store.execute_for_test(shut).await;
        let old = api.administrator();

        let other = Store::open(&api.database.url).await.unwrap();
        let name = made(&api, "ADMIN", NEW).await.unwrap().set(&other).await.unwrap();

        assert_eq!(name, "admin", "{engine}");
        assert_eq!(old.get("/api/currentuser").await.status, 401, "{engine}");
        let (status, answer) = log_in(&api, "admin", NEW).await;
        assert_eq!((status, &answer["mustChangePassword"]), (200, &json!(true)), "{engine}");
        assert_eq!(log_in(&api, "member", PASSWORD).await.0, 401, "{engine}");
    }
}

#[tokio::test]
async fn what_is_changed_while_the_password_is_hashed_stays_changed() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let admin = api.administrator();
        let member = format!("/api/admin/users/{}", api.member_id());
        let change = json!({"group": "ADMIN", "email": "old@example.test"});
        assert_eq!(admin.put(&member, &change).await.status, 200, "{engine}");
        let hashed = made(&api, "member", NEW).await.unwrap();
        let meanwhile = json!({
            "group": "USER", "email": "new@example.test", "teamsIds": [], "enabled": false,
        });
        let changed = admin.put(&member, &meanwhile).await.json();

        hashed.set(&api.state.store).await.unwrap();

        let mut expected = changed;
        expected["enabled"] = json!(true);
        expected["mustChangePassword"] = json!(true);
        assert_eq!(admin.get(&member).await.json(), expected, "{engine}");
        assert_eq!(log_in(&api, "member", NEW).await.0, 200, "{engine}");
    }
}

#[tokio::test]
async fn a_user_who_is_deleted_while_the_password_is_hashed_stays_deleted() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let hashed = made(&api, "Member", NEW).await.unwrap();
        let member = format!("/api/admin/users/{}", api.member_id());
        assert_eq!(api.administrator().delete(&member).await.status, 200, "{engine}");

        let error = hashed.set(&api.state.store).await.unwrap_err();

        assert_eq!(error.to_string(), "there is no user Member", "{engine}");
        assert_eq!(log_in(&api, "member", NEW).await.0, 401, "{engine}");
    }
}

#[tokio::test]
async fn the_audit_tells_what_the_user_was_and_is_and_no_secret() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let shut = "UPDATE account SET enabled = 0, locked = 1 WHERE username = 'member'";
        api.state.store.execute_for_test(shut).await;

        made(&api, "member", NEW).await.unwrap().set(&api.state.store).await.unwrap();

        let asked = "/api/admin/audit?action=password&objectKind=users";
        let told = api.administrator().get(asked).await;
        let entry = &told.json()[0];
        assert_eq!(entry["username"], "system", "{engine}");
        assert_eq!(entry["objectName"], "member", "{engine}");
        let (before, after) = (&entry["before"], &entry["after"]);
        for (field, was, is) in [
            ("enabled", json!(false), json!(true)),
            ("locked", json!(true), json!(false)),
            ("mustChangePassword", json!(false), json!(true)),
            ("passwordChanged", Value::Null, json!(true)),
            ("group", json!("USER"), json!("USER")),
        ] {
            assert_eq!((&before[field], &after[field]), (&was, &is), "{engine} {field}: {entry}");
        }
        assert!(!told.text.contains("argon2") && !told.text.contains(NEW), "{}", told.text);
    }
}

#[tokio::test]
async fn nothing_changes_for_nobody_and_for_a_short_password() {
    let api = api().await;
    for (username, password, said) in [
        ("nobody", NEW, "there is no user nobody"),
        ("admin", "short", "the new password does not pass: must have 12 to 1024 characters"),
    ] {
        let error = made(&api, username, password).await.err().unwrap();

        assert_eq!(format!("{:#}", anyhow::Error::from(error)), said);
    }
    assert_eq!(api.administrator().get("/api/currentuser").await.status, 200);
}
