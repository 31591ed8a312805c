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
        let done =
            made(&api, "ADMIN", NEW).await.unwrap().set(&other, Addresses::OfTeams).await.unwrap();

        let expected = Reset { username: "admin".to_owned(), limiting: Vec::new() };
        assert_eq!(done, expected, "{engine}");
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

        hashed.set(&api.state.store, Addresses::OfTeams).await.unwrap();

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

        let error = hashed.set(&api.state.store, Addresses::OfTeams).await.unwrap_err();

        let said = format!("there is no user Member in this database of {engine};");
        assert!(error.to_string().starts_with(&said), "{error}");
        assert_eq!(log_in(&api, "member", NEW).await.0, 401, "{engine}");
    }
}

#[tokio::test]
async fn the_audit_tells_what_the_user_was_and_is_and_no_secret() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let shut = "UPDATE account SET enabled = 0, locked = 1 WHERE username = 'member'";
        api.state.store.execute_for_test(shut).await;

        made(&api, "member", NEW)
            .await
            .unwrap()
            .set(&api.state.store, Addresses::OfTeams)
            .await
            .unwrap();

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
async fn who_is_shut_out_by_addresses_gets_in_from_anywhere_and_stays_an_administrator() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let member = format!("/api/admin/users/{}", api.member_id());
        let both_teams = json!({"teamsIds": ["Default", "Administrators"]});
        assert_eq!(api.administrator().put(&member, &both_teams).await.status, 200, "{engine}");
        // Whatever way that came about.
        let list = "UPDATE team SET ip_white_list = '192.0.2.1' WHERE name = 'Administrators'";
        api.state.store.execute_for_test(list).await;
        for (username, kept) in [("admin", json!([])), ("member", json!([api.default_team]))] {
            let reset = made(&api, username, NEW).await.unwrap();
            let done = reset.set(&api.state.store, Addresses::OfTeams).await.unwrap();
            assert_eq!(done.limiting, ["Administrators"], "{engine} {username}");
            assert_eq!(log_in(&api, username, NEW).await.0, 401, "{engine} {username}");

            let reset = made(&api, username, NEW).await.unwrap();
            let done = reset.set(&api.state.store, Addresses::Any).await.unwrap();

            assert_eq!(done.limiting, ["Administrators"], "{engine} {username}");
            let (status, answer) = log_in(&api, username, NEW).await;
            assert_eq!(status, 200, "{engine} {username}: {answer}");
            let token = answer["token"].as_str().map(str::to_owned);
            let change = json!({"oldPassword": NEW, "newPassword": PASSWORD});
            let changed = api.with_token(token).post("/api/currentuser/password", &change).await;
            assert_eq!(changed.status, 200, "{engine} {username}: {}", changed.text);
            let (_, answer) = log_in(&api, username, PASSWORD).await;
            let back = api.with_token(answer["token"].as_str().map(str::to_owned));
            let now = back.get("/api/currentuser").await.json();
            assert_eq!((&now["group"], &now["teamsIds"]), (&json!("ADMIN"), &kept), "{engine}");
            let audit = back.get("/api/admin/audit?action=password&username=system").await.json();
            let (before, after) = (&audit[0]["before"], &audit[0]["after"]);
            assert_ne!(before["teamsIds"], kept, "{engine} {username}");
            assert_eq!((&after["teamsIds"], &after["group"]), (&kept, &json!("ADMIN")));
        }
        let list = api.state.store.team(api.administrators).await.unwrap().unwrap().ip_white_list;
        assert_eq!(list, "192.0.2.1", "{engine}: for the others it holds");
    }
}

#[tokio::test]
async fn a_user_becomes_no_administrator_by_a_reset() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let list = "UPDATE team SET ip_white_list = '192.0.2.1' WHERE name = 'Default'";
        api.state.store.execute_for_test(list).await;

        let reset = made(&api, "member", NEW).await.unwrap();
        reset.set(&api.state.store, Addresses::Any).await.unwrap();

        let member = format!("/api/admin/users/{}", api.member_id());
        let member = api.administrator().get(&member).await.json();
        assert_eq!(
            (&member["group"], &member["teamsIds"]),
            (&json!("USER"), &json!([])),
            "{engine}"
        );
        assert_eq!(log_in(&api, "member", NEW).await.0, 200, "{engine}");
    }
}

#[tokio::test]
async fn nothing_changes_for_nobody_and_for_a_password_that_does_not_pass() {
    let api = api().await;
    for (username, password, said) in [
        ("nobody", NEW, "there is no user nobody in this database of SQLite; "),
        ("admin", "short", "the new password does not pass: must have 12 to 1024 characters"),
        (
            "admin",
            "a way\0back in",
            "the new password does not pass: must have no NUL character, which no login takes",
        ),
    ] {
        let error = made(&api, username, password).await.err().unwrap();

        let text = format!("{:#}", anyhow::Error::from(error));
        assert!(text.starts_with(said), "{text}");
    }
    assert_eq!(api.administrator().get("/api/currentuser").await.status, 200);
}

/// A home whose service has been started, but whose database is at `url` or the default one.
fn home(url: Option<String>) -> (tempfile::TempDir, Config) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let mut config = Config::with_defaults(folder.path().to_owned());
    config.database_url = url.unwrap_or(config.database_url);
    (folder, config)
}

async fn reset(config: &Config) -> Result<Reset, String> {
    let password = Password::from(NEW.to_owned());
    let random = Arc::new(SystemRandom);
    let done = reset_password(config, random, "admin", password, Addresses::OfTeams).await;
    done.map_err(|error| format!("{:#}", anyhow::Error::from(error)))
}

#[tokio::test]
async fn where_there_is_no_database_none_is_made_and_the_variable_is_named() {
    let (folder, config) = home(None);

    let said = reset(&config).await.unwrap_err();

    assert!(said.contains("CHANCERY_DATABASE_URL"), "{said}");
    let found: Vec<_> = std::fs::read_dir(folder.path().join("data")).unwrap().collect();
    assert!(found.is_empty(), "{found:?}");
}

#[tokio::test]
async fn a_database_that_is_not_the_services_stays_as_it_is() {
    let empty = tempfile::NamedTempFile::new().unwrap();
    let (_folder, sqlite) = home(Some(format!("sqlite://{}?mode=rwc", empty.path().display())));
    let (_folder, postgres) = home(Some(crate::store::testing::postgres_database().await));
    for config in [sqlite, postgres] {
        for _ in 0..2 {
            let said = reset(&config).await.unwrap_err();

            assert!(said.contains("CHANCERY_DATABASE_URL"), "{said}");
            assert!(said.contains("this is no database of the service"), "{said}");
        }
    }
}

#[tokio::test]
async fn a_schema_of_another_version_is_left_to_the_service() {
    for (engine, store) in both().await {
        let older = "DELETE FROM _sqlx_migrations \
                     WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)";
        store.store.execute_for_test(older).await;
        let (_folder, config) = home(Some(store.url.clone()));

        let said = reset(&config).await.unwrap_err();

        assert!(said.contains("another version of the service"), "{engine}: {said}");
    }
}

#[tokio::test]
async fn the_database_that_is_named_is_the_one_that_is_changed() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let (_folder, config) = home(Some(api.database.url.clone()));

        let done = reset(&config).await.unwrap();

        assert_eq!(done.username, "admin", "{engine}");
        assert_eq!(log_in(&api, "admin", NEW).await.0, 200, "{engine}");
    }
}
