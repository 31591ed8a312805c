//! What users learn about themselves.

use serde_json::json;

use crate::store::account::Group;
use crate::testing::{PASSWORD, api, insert_team, insert_user};

#[tokio::test]
async fn a_user_sees_who_they_are_and_whether_a_team_makes_them_an_administrator() {
    let api = api().await;

    let member = api.member().get("/api/currentuser").await.json();
    let admin = api.administrator().get("/api/currentuser").await.json();

    let expected = json!({
        "id": api.member_id(), "username": "member", "email": "member@example.test",
        "group": "USER", "teamsIds": [api.default_team],
    });
    assert_eq!(member, expected);
    assert_eq!(
        (&admin["group"], &admin["teamsIds"]),
        (&json!("ADMIN"), &json!([api.administrators]))
    );
}

#[tokio::test]
async fn my_teams_have_exactly_the_fields_that_deployed_clients_know() {
    let api = api().await;

    let teams = api.member().get("/api/currentuser/myteams").await.json();

    let expected = json!([{
        "id": api.default_team, "name": "Default", "description": "", "internalGroup": "USER",
        "adGroups": [], "authorisedCas": [], "adminUsernames": [], "dontSendEmailsOnIssue": false,
        "dontSendReminderEmails": false, "ipWhiteList": "",
    }]);
    assert_eq!(teams, expected);
}

#[tokio::test]
async fn my_issuers_are_names_and_a_user_without_a_team_has_none() {
    let api = api().await;
    let loner = insert_user(&api.state, "loner", &[]).await;
    for sql in crate::store::testing::ISSUERS {
        api.state.store.execute_for_test(sql).await;
    }

    let of_member = api.member().get("/api/currentuser/myissuers").await.json();
    let of_loner = api.user(loner).get("/api/currentuser/myissuers").await.json();
    let of_admin = api.administrator().get("/api/currentuser/myissuers").await.json();

    assert_eq!(of_member, json!(["Closed", "Open"]));
    assert_eq!(of_loner, json!([]));
    assert_eq!(of_admin, json!(["Closed", "Open"]));
}

#[tokio::test]
async fn a_password_change_needs_the_old_one_and_a_new_one_that_may_be_set() {
    let api = api().await;
    let member = api.member();
    let kilo = "x".repeat(1025);
    for (old, new, expected, field) in [
        ("wrong password!", "another horse, battery", (401, "bad_credentials"), None),
        (PASSWORD, "too short", (400, "invalid_request"), Some("newPassword")),
        (PASSWORD, &kilo, (400, "invalid_request"), Some("newPassword")),
        (PASSWORD, PASSWORD, (400, "invalid_request"), Some("newPassword")),
    ] {
        let body = json!({"oldPassword": old, "newPassword": new});
        let answer = member.post("/api/currentuser/password", &body).await;
        assert_eq!(answer.refusal(), (expected.0, expected.1.to_owned()), "{new:.30}");
        assert_eq!(answer.json()["fields"][0]["field"].as_str(), field);
    }
    let body = json!({"oldPassword": PASSWORD, "newPassword": " another horse, battery "});
    assert_eq!(member.post("/api/currentuser/password", &body).await.status, 200);
    assert_eq!(member.get("/api/currentuser").await.status, 401, "every token has ended");
}

#[tokio::test]
async fn a_user_of_two_teams_sees_both_by_name() {
    let api = api().await;
    let other = insert_team(&api.state, "Another", Group::Users).await;
    let user = insert_user(&api.state, "two", &[api.default_team, other]).await;

    let teams = api.user(user).get("/api/currentuser/myteams").await.json();

    assert_eq!((&teams[0]["name"], &teams[1]["name"]), (&json!("Another"), &json!("Default")));
}
