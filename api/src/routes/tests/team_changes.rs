//! Changing and deleting teams.

use serde_json::json;

use crate::store::account::Group;
use crate::testing::{api, api_with_issuer, insert_team};

#[tokio::test]
async fn what_is_left_out_of_a_change_stays_and_what_is_empty_goes() {
    let api = api().await;
    for sql in crate::store::testing::ISSUERS {
        api.state.store.execute_for_test(sql).await;
    }
    let admin = api.administrator();
    let path = format!("/api/admin/teams/{}", api.default_team);
    let before = admin.get(&path).await.json();

    let same = admin.put(&path, &json!({})).await.json();
    let body = json!({
        "name": "Web", "description": "web servers", "dontSendEmailsOnIssue": true,
        "dontSendReminderEmails": true, "ipWhiteList": "192.0.2.0/24", "members": ["admin"],
    });
    let shut_out = admin.put(&path, &body).await;
    let admin = admin.from("192.0.2.3");
    let changed = admin.put(&path, &body).await.json();

    assert_eq!(same, before);
    assert_eq!(shut_out.refusal(), (400, "invalid_request".to_owned()));
    assert_eq!(shut_out.json()["fields"][0]["field"], "ipWhiteList");
    let mut expected = before;
    expected["name"] = json!("Web");
    expected["description"] = json!("web servers");
    expected["dontSendEmailsOnIssue"] = json!(true);
    expected["dontSendReminderEmails"] = json!(true);
    expected["ipWhiteList"] = json!("192.0.2.0/24");
    expected["members"] = json!([api.admin_id()]);
    assert_eq!(changed, expected);
    let body = json!({"description": null, "ipWhiteList": "", "members": []});
    let emptied = admin.put(&path, &body).await.json();
    assert_eq!(
        (&emptied["description"], &emptied["ipWhiteList"], &emptied["members"]),
        (&json!(""), &json!(""), &json!([]))
    );
    let taken = admin.put(&path, &json!({"name": "Administrators"})).await;
    assert_eq!(taken.refusal(), (409, "name_taken".to_owned()));
}

#[tokio::test]
async fn an_issuer_that_is_restored_has_its_teams_still() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let web = insert_team(&api.state, "Web", Group::Users).await;
    let path = format!("/api/admin/teams/{web}");
    admin.put(&path, &json!({"authorisedCas": ["Chancery Issuer"]})).await;
    let issuers = admin.get("/api/admin/ca").await.json();
    let issuer = issuers[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(admin.delete(&format!("/api/admin/ca/{issuer}")).await.status, 200);

    let emptied = admin.put(&path, &json!({"authorisedCas": []})).await;
    let deleted = admin.delete(&path).await;
    let restored = admin.post(&format!("/api/admin/ca/restore/{issuer}"), &json!({})).await;

    assert_eq!(emptied.status, 200, "{}", emptied.text);
    assert_eq!(deleted.refusal(), (409, "in_use".to_owned()));
    assert_eq!(restored.status, 200, "{}", restored.text);
    assert_eq!(api.member().get("/api/currentuser/myissuers").await.json(), json!([]));
}

#[tokio::test]
async fn an_issuer_is_not_opened_to_every_team_by_the_way() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let (web, mail) = (
        insert_team(&api.state, "Web", Group::Users).await,
        insert_team(&api.state, "Mail", Group::Users).await,
    );
    let path = |id| format!("/api/admin/teams/{id}");
    let issuer = json!({"authorisedCas": ["Chancery Issuer"]});
    admin.put(&path(web), &issuer).await;
    assert_eq!(api.member().get("/api/currentuser/myissuers").await.json(), json!([]));

    let alone = admin.put(&path(web), &json!({"authorisedCas": []})).await;
    let deleted = admin.delete(&path(web)).await;
    admin.put(&path(mail), &issuer).await;
    let of_two = admin.put(&path(web), &json!({"authorisedCas": []})).await;

    for refused in [alone, deleted] {
        assert_eq!(refused.refusal(), (409, "in_use".to_owned()));
        assert_eq!(refused.json()["dependants"][0]["name"], "Chancery Issuer");
    }
    assert_eq!(of_two.status, 200, "{}", of_two.text);
    assert_eq!(api.member().get("/api/currentuser/myissuers").await.json(), json!([]));
    assert_eq!(admin.delete(&path(web)).await.status, 200);
    assert_eq!(admin.get(&path(web)).await.status, 404);
}

#[tokio::test]
async fn a_team_with_members_or_certificates_says_what_stands_in_the_way() {
    let api = api_with_issuer().await;
    let admin = api.administrator();

    let with_members = admin.delete(&format!("/api/admin/teams/{}", api.default_team)).await;
    let of_cas = admin.delete(&format!("/api/admin/teams/{}", api.administrators)).await;

    assert_eq!(with_members.refusal(), (409, "in_use".to_owned()));
    let dependants = with_members.json()["dependants"].clone();
    let expected = json!([{"kind": "users", "id": api.member_id(), "name": "member"}]);
    assert_eq!(dependants, expected);
    assert_eq!(of_cas.refusal(), (409, "in_use".to_owned()));
    let dependants = of_cas.json()["dependants"].as_array().unwrap().clone();
    assert!(dependants.iter().any(|one| one["kind"] == "certs"), "{dependants:?}");
}

#[tokio::test]
async fn the_last_team_of_the_administrators_stays_one() {
    let api = api().await;
    api.make_admin_one_by_itself().await;
    let path = format!("/api/admin/teams/{}", api.administrators);

    let answer = api.administrator().put(&path, &json!({"internalGroup": "USER"})).await;

    assert_eq!(answer.refusal(), (409, "last_administrator".to_owned()));
}
