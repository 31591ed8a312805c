//! `/admin/users`.

use serde_json::json;

use crate::testing::api;

#[tokio::test]
async fn a_new_user_is_answered_whole_without_a_password_and_can_log_in() {
    let api = api().await;
    let admin = api.administrator();
    let body = json!({
        "username": "Ada", "email": "ada@example.test", "password": " a password with blanks ",
        "teamsIds": ["Default"],
    });

    let made = admin.post("/api/admin/users", &body).await.json();

    let expected = json!({
        "id": made["id"], "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "admin",
        "username": "Ada", "email": "ada@example.test", "group": "USER", "enabled": true,
        "teamsIds": [api.default_team], "mustChangePassword": false, "lastLoginTime": null,
        "lastLoginIpAddress": null, "numFailedLoginAttempts": 0, "locked": false,
    });
    assert_eq!(made, expected);
    let path = format!("/api/admin/users/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.json(), expected);
    let list = admin.get("/api/admin/users").await.json();
    assert_eq!(list[0], expected, "by name, whatever its case");
    let login = json!({"username": "ada", "password": " a password with blanks "});
    assert_eq!(api.anonymous().post("/api/login", &login).await.status, 200);
}

#[tokio::test]
async fn a_user_of_the_group_admin_is_an_administrator() {
    let api = api().await;
    let body = json!({
        "username": "root", "password": "twelve chars", "group": "ADMIN", "enabled": true,
        "mustChangePassword": true,
    });

    let made = api.administrator().post("/api/admin/users", &body).await.json();

    assert_eq!((&made["group"], &made["mustChangePassword"]), (&json!("ADMIN"), &json!(true)));
}

#[tokio::test]
async fn every_field_at_fault_is_named_at_once() {
    let api = api().await;
    let body = json!({
        "username": "a\nb", "email": "a@b\r\nBcc: c@d", "password": "short", "teamsIds": ["none"],
    });

    let answer = api.administrator().post("/api/admin/users", &body).await;

    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()));
    let fields = answer.json()["fields"].as_array().unwrap().clone();
    let fields: Vec<_> = fields.iter().map(|field| field["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["username", "email", "password", "teamsIds[0]"]);
}

#[tokio::test]
async fn an_address_is_one_that_a_certificate_could_hold_too() {
    let api = api().await;
    for (email, status) in [("a@example.test", 200), ("a@-", 400), ("jörg@example.test", 400)] {
        let body = json!({"username": email, "password": "twelve chars", "email": email});

        let answer = api.administrator().post("/api/admin/users", &body).await;

        assert_eq!(answer.status, status, "{email}: {}", answer.text);
    }
}

#[tokio::test]
async fn a_group_that_is_none_names_those_that_are() {
    let api = api().await;
    let body = json!({"username": "x", "password": "twelve chars", "group": "ROOT"});

    let answer = api.administrator().post("/api/admin/users", &body).await;

    assert_eq!(answer.json()["message"], "group: must be ADMIN or USER");
}

#[tokio::test]
async fn a_username_is_taken_whatever_its_case() {
    let api = api().await;
    let body = json!({"username": "MEMBER", "password": "twelve chars"});

    let answer = api.administrator().post("/api/admin/users", &body).await;

    assert_eq!(answer.refusal(), (409, "name_taken".to_owned()));
    let users = api.administrator().get("/api/admin/users").await.json();
    assert_eq!(users.as_array().map(Vec::len), Some(2));
    assert!(users.as_array().unwrap().iter().all(|user| user.get("password").is_none()));
}
