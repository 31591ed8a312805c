//! Changing, deleting and unlocking users.

use serde_json::{Value, json};

use crate::app;
use crate::store::account::Group;
use crate::store::testing::both;
use crate::testing::{Api, PASSWORD, Persona, api, api_on, insert_team, insert_user};

async fn log_in(api: &Api, username: &str, password: &str) -> u16 {
    let body = json!({"username": username, "password": password});
    api.anonymous().post("/api/login", &body).await.status.as_u16()
}

fn path(id: impl std::fmt::Display) -> String {
    format!("/api/admin/users/{id}")
}

/// A second administrator, so that the first is not the last.
async fn other_administrator(api: &Api) -> Persona {
    let id = insert_user(&api.state, "root", &[api.administrators]).await;
    api.user(id)
}

#[tokio::test]
async fn what_is_left_out_of_a_change_stays_and_what_is_empty_goes() {
    let api = api().await;
    let admin = api.administrator();
    let path = path(api.member_id());
    let before = admin.get(&path).await.json();

    let same = admin.put(&path, &json!({})).await.json();
    let body = json!({
        "username": "member", "email": "", "group": "ADMIN", "teamsIds": ["Administrators"],
        "mustChangePassword": true,
    });
    let changed = admin.put(&path, &body).await.json();

    assert_eq!(same, before);
    let mut expected = before;
    expected["email"] = json!("");
    expected["group"] = json!("ADMIN");
    expected["teamsIds"] = json!([api.administrators]);
    expected["mustChangePassword"] = json!(true);
    assert_eq!(changed, expected);
    let alone = admin.put(&path, &json!({"teamsIds": [], "group": "USER"})).await.json();
    assert_eq!((&alone["teamsIds"], &alone["group"]), (&json!([]), &json!("USER")));
}

#[tokio::test]
async fn every_field_at_fault_is_named_at_once() {
    let api = api().await;
    let body = json!({"username": "b", "email": "x", "password": "short", "teamsIds": ["none"]});

    let answer = api.administrator().put(&path(api.member_id()), &body).await;

    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()));
    let fields = answer.json()["fields"].as_array().unwrap().clone();
    let fields: Vec<_> = fields.iter().map(|field| field["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["username", "email", "password", "teamsIds[0]"]);
}

#[tokio::test]
async fn tokens_end_at_once_where_the_password_is_changed_or_the_user_disabled_or_deleted() {
    for (change, password) in [
        (Some(json!({"password": "another horse, battery"})), Some("another horse, battery")),
        (Some(json!({"enabled": false})), None),
        (None, None),
    ] {
        let api = api().await;
        let (admin, member) = (api.administrator(), api.member());
        let made = member.post("/api/currentuser/apitokens", &json!({"name": "ci"})).await.json();
        let machine = api.with_token(made["token"].as_str().map(str::to_owned));
        assert_eq!(machine.get("/api/currentuser").await.status, 200);

        let path = path(api.member_id());
        let done = match &change {
            Some(change) => admin.put(&path, change).await,
            None => admin.delete(&path).await,
        };

        assert_eq!(done.status, 200, "{}", done.text);
        for ended in [&member, &machine] {
            let answer = ended.get("/api/currentuser").await;
            assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()), "{change:?}");
        }
        assert_eq!(log_in(&api, "member", PASSWORD).await, 401);
        if let Some(password) = password {
            assert_eq!(log_in(&api, "member", password).await, 200);
        }
        let list = admin.get("/api/admin/users").await.text;
        assert!(!list.contains("argon2") && !list.contains("password\""), "{list}");
    }
}

#[tokio::test]
async fn a_user_who_was_disabled_gets_no_old_token_back() {
    let api = api().await;
    let (admin, member) = (api.administrator(), api.member());
    let path = path(api.member_id());
    admin.put(&path, &json!({"enabled": false})).await;

    assert_eq!(admin.put(&path, &json!({"enabled": true})).await.status, 200);

    assert_eq!(member.get("/api/currentuser").await.status, 401);
    assert_eq!(log_in(&api, "member", PASSWORD).await, 200);
}

#[tokio::test]
async fn administrators_do_not_change_their_own_role_at_the_user() {
    let api = api().await;
    other_administrator(&api).await;
    let admin = api.administrator();
    let path = path(api.admin_id());
    for body in [
        json!({"group": "ADMIN"}),
        json!({"teamsIds": ["Default"]}),
        json!({"teamsIds": []}),
        json!({"enabled": false}),
        json!({"password": "another horse, battery"}),
    ] {
        let answer = admin.put(&path, &body).await;
        assert_eq!(answer.refusal(), (403, "not_permitted".to_owned()), "{body}");
    }
    assert_eq!(admin.delete(&path).await.refusal(), (403, "not_permitted".to_owned()));
    let unchanged = json!({"teamsIds": ["Administrators"], "group": "USER", "email": "a@b.test"});
    assert_eq!(admin.put(&path, &unchanged).await.status, 200, "what stays the same is no change");
}

#[tokio::test]
async fn an_ordinary_user_reaches_no_role_or_team_at_all() {
    let api = api().await;
    let member = api.member();
    for (path, body) in [
        (path(api.member_id()), json!({"group": "ADMIN"})),
        (format!("/api/admin/teams/{}", api.default_team), json!({"internalGroup": "ADMIN"})),
        (format!("/api/admin/teams/{}", api.administrators), json!({"members": ["member"]})),
    ] {
        let answer = member.put(&path, &body).await;
        assert_eq!(answer.refusal(), (403, "not_administrator".to_owned()), "{path}");
    }
    for field in ["group", "teamsIds", "enabled"] {
        let body = json!({"oldPassword": PASSWORD, "newPassword": "another horse", field: "ADMIN"});
        let answer = member.post("/api/currentuser/password", &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{field}");
    }
}

#[tokio::test]
async fn a_user_deleted_by_name_only_is_another_when_the_name_comes_back() {
    let api = api().await;
    let admin = api.administrator();
    let old = api.member();
    admin.delete(&path(api.member_id())).await;

    let body = json!({"username": "member", "password": PASSWORD, "teamsIds": ["Default"]});
    let made = admin.post("/api/admin/users", &body).await.json();

    assert_ne!(made["id"], json!(api.member_id()));
    assert_eq!(old.get("/api/currentuser").await.status, 401);
}

#[tokio::test]
async fn who_is_not_there_is_404_for_every_method() {
    let api = api().await;
    let admin = api.administrator();
    let nobody = path("0".repeat(24));
    for answer in [
        admin.put(&nobody, &json!({"enabled": false})).await,
        admin.delete(&nobody).await,
        admin.post(&format!("{nobody}/unlock"), &Value::Null).await,
        admin.get(&format!("{nobody}/apitokens")).await,
    ] {
        assert_eq!(answer.refusal(), (404, "not_found".to_owned()));
    }
}

#[tokio::test]
async fn a_team_of_the_administrators_makes_its_members_administrators_and_back() {
    let api = api().await;
    let member = api.member();
    let team = insert_team(&api.state, "Operators", Group::Administrators).await;
    let path = format!("/api/admin/teams/{team}");

    api.administrator().put(&path, &json!({"members": ["member"]})).await;
    assert_eq!(member.get("/api/admin/users").await.status, 200);
    api.administrator().put(&path, &json!({"members": []})).await;

    assert_eq!(member.get("/api/admin/users").await.status, 403);
}

#[tokio::test]
async fn a_token_that_ended_at_one_process_has_ended_at_every_other() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let second = app::router(&api.second_process().await);
        let admin = api.administrator();
        let user = format!("/api/admin/users/{}", api.member_id());
        let made = api.member().post("/api/currentuser/apitokens", &json!({"name": "ci"})).await;
        let made = made.json();
        let machine = api.with_token(made["token"].as_str().map(str::to_owned));
        let of_token = format!("{user}/apitokens/{}", made["id"].as_str().unwrap());
        let (first, third) = (api.member(), api.member());
        for persona in [&first, &third, &machine] {
            assert_eq!(persona.at(second.clone()).get("/api/currentuser").await.status, 200);
        }

        assert_eq!(first.get("/api/logouthere").await.status, 200);
        assert_eq!(admin.delete(&of_token).await.status, 200);
        let ended = [&first, &machine].map(|persona| persona.at(second.clone()));
        for persona in &ended {
            assert_eq!(persona.get("/api/currentuser").await.status, 401, "{engine}");
        }
        assert_eq!(third.at(second.clone()).get("/api/currentuser").await.status, 200);
        assert_eq!(admin.put(&user, &json!({"enabled": false})).await.status, 200);
        assert_eq!(third.at(second).get("/api/currentuser").await.status, 401, "{engine}");
    }
}
