//! `/admin/teams`.

use serde_json::json;

use crate::testing::api;

#[tokio::test]
async fn a_new_team_is_answered_whole_and_found_again() {
    let api = api().await;
    for sql in crate::store::testing::ISSUERS {
        api.state.store.execute_for_test(sql).await;
    }
    let admin = api.administrator().from("192.0.2.9");
    let body = json!({
        "name": "Web", "description": "web servers", "internalGroup": "USER",
        "authorisedCas": ["Open", "020202020202020202020202"], "dontSendEmailsOnIssue": true,
        "ipWhiteList": "192.0.2.0/24", "members": ["MEMBER", api.admin_id()],
    });

    let made = admin.post("/api/admin/teams", &body).await.json();

    let mut members = [api.member_id().to_string(), api.admin_id().to_string()];
    members.sort();
    let expected = json!({
        "id": made["id"], "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "admin",
        "name": "Web", "description": "web servers", "internalGroup": "USER",
        "authorisedCas": ["010101010101010101010101", "020202020202020202020202"],
        "dontSendEmailsOnIssue": true, "dontSendReminderEmails": false,
        "ipWhiteList": "192.0.2.0/24", "members": members,
    });
    assert_eq!(made, expected);
    let path = format!("/api/admin/teams/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.get(&path).await.json(), expected);
    let list = admin.get("/api/admin/teams").await.json();
    assert_eq!(list.as_array().unwrap().len(), 3);
    assert_eq!(list[2], expected);
}

#[tokio::test]
async fn what_is_named_twice_is_in_the_team_once() {
    let api = api().await;
    let id = api.member_id().to_string();
    let body = json!({"name": "Web", "members": ["member", id, "member"]});

    let made = api.administrator().post("/api/admin/teams", &body).await;

    assert_eq!(made.json()["members"], json!([id]), "{}", made.text);
}

#[tokio::test]
async fn a_white_list_of_no_addresses_is_refused() {
    let api = api().await;
    let body = json!({"name": "Web", "ipWhiteList": "192.0.2.0/24, everyone"});

    let answer = api.administrator().post("/api/admin/teams", &body).await;

    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()));
    assert_eq!(answer.json()["fields"][0]["field"], "ipWhiteList");
}

#[tokio::test]
async fn empty_fields_of_a_new_team_mean_absent() {
    let api = api().await;
    let body = json!({
        "name": "Web", "description": "", "internalGroup": null, "authorisedCas": [""],
        "members": [null], "dontSendReminderEmails": null, "ipWhiteList": [],
    });

    let made = api.administrator().post("/api/admin/teams", &body).await;

    assert_eq!(made.status, 200, "{}", made.text);
    assert_eq!(made.json()["internalGroup"], "USER");
}

#[tokio::test]
async fn every_field_at_fault_is_named_at_once() {
    let api = api().await;
    let body = json!({
        "name": " Web", "description": "x".repeat(1001), "authorisedCas": ["none"],
        "members": ["member", "nobody"],
    });

    let answer = api.administrator().post("/api/admin/teams", &body).await;

    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()));
    let fields = answer.json();
    let fields: Vec<_> =
        fields["fields"].as_array().unwrap().iter().map(|f| f["field"].as_str().unwrap()).collect();
    assert_eq!(fields, ["name", "description", "authorisedCas[0]", "members[1]"]);
    assert_eq!(
        api.administrator().get("/api/admin/teams").await.json().as_array().unwrap().len(),
        2
    );
}

#[tokio::test]
async fn what_is_wrong_only_in_naming_nothing_is_a_422_that_names_each() {
    let api = api().await;
    let body = json!({"name": "Web", "authorisedCas": ["none"], "members": ["member", "nobody"]});

    let answer = api.administrator().post("/api/admin/teams", &body).await;

    assert_eq!(answer.refusal(), (422, "unknown_reference".to_owned()));
    assert_eq!(
        answer.json()["fields"],
        json!([
            {
                "field": "authorisedCas[0]",
                "message": "none is neither id nor name of a Certificate Issuer",
            },
            {"field": "members[1]", "message": "nobody is neither id nor name of a user"},
        ])
    );
}

#[tokio::test]
async fn a_team_name_is_taken_once() {
    let api = api().await;

    let answer = api.administrator().post("/api/admin/teams", &json!({"name": "Default"})).await;

    assert_eq!(answer.refusal(), (409, "name_taken".to_owned()));
    assert_eq!(answer.json()["fields"][0]["field"], "name");
}

#[tokio::test]
async fn an_id_that_names_nothing_is_a_404_whatever_it_looks_like() {
    let api = api().await;
    let upper = api.default_team.to_string().replace("00", "FF");
    for id in [
        "0".repeat(23).as_str(),
        &"0".repeat(24),
        &"0".repeat(25),
        "gggggggggggggggggggggggg",
        &upper.to_uppercase(),
        "..%2f..%2fetc%2fpasswd",
        "%00",
        "1'%20OR%20'1'='1",
        "%F0%9F%94%92",
        "$ne",
        "null",
        "%ff",
    ] {
        let answer = api.administrator().get(&format!("/api/admin/teams/{id}")).await;
        assert_eq!(answer.refusal(), (404, "not_found".to_owned()), "{id}");
    }
}
