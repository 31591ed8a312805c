//! `/admin/settings`.

use serde_json::json;

use crate::testing::api;

const PATH: &str = "/api/admin/settings";

#[tokio::test]
async fn each_setting_comes_with_all_that_is_needed_to_show_it_and_to_ask_for_it() {
    let api = api().await;
    let admin = api.administrator();

    let before = admin.get(PATH).await.json();
    let body = json!({"privateKeyRetentionPeriod": {"value": 12, "unit": "hours"}});
    let after = admin.put(PATH, &body).await.json();

    let setting = &before[0];
    assert_eq!(setting["name"], "privateKeyRetentionPeriod");
    assert_eq!(setting["title"], "Private Key Retention Period");
    assert_eq!(setting["type"], "duration");
    assert_eq!((&setting["value"], &setting["unit"]), (&json!(30), &json!("days")));
    assert_eq!(setting["units"], json!(["minutes", "hours", "days"]));
    assert_eq!(setting["minimum"], json!({"value": 0, "unit": "minutes"}));
    assert_eq!(setting["maximum"], json!({"value": 36_500, "unit": "days"}));
    assert_eq!(setting["default"], json!({"value": 30, "unit": "days"}));
    assert_eq!((&after[0]["value"], &after[0]["unit"]), (&json!(12), &json!("hours")));
    assert_eq!(admin.get(PATH).await.json(), after);
}

#[tokio::test]
async fn what_is_out_of_range_or_unknown_is_refused_with_its_field_and_changes_nothing() {
    let api = api().await;
    let admin = api.administrator();
    let before = admin.get(PATH).await.json();
    for (body, field) in [
        (json!({"privateKeyRetentionPeriod": {"value": 36_501, "unit": "days"}}), ""),
        (json!({"privateKeyRetentionPeriod": {"value": -1, "unit": "days"}}), ""),
        (json!({"privateKeyRetentionPeriod": {"value": 1, "unit": "years"}}), ""),
        (json!({"privateKeyRetentionPeriod": {"value": 1}}), ""),
        (json!({"privateKeyRetentionPeriod": 30}), ""),
        (json!({"retention": 30}), "retention"),
    ] {
        let answer = admin.put(PATH, &body).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{body}");
        let named = answer.json()["fields"][0]["field"].as_str().unwrap().to_owned();
        let expected = if field.is_empty() { "privateKeyRetentionPeriod" } else { field };
        assert!(named.starts_with(expected), "{body}: {named}");
    }
    assert_eq!(admin.get(PATH).await.json(), before);
}

#[tokio::test]
async fn only_administrators_read_and_change_them() {
    let api = api().await;

    let read = api.member().get(PATH).await;
    let write = api.member().put(PATH, &json!({})).await;

    for answer in [read, write] {
        assert_eq!(answer.refusal(), (403, "not_administrator".to_owned()));
    }
}

#[tokio::test]
async fn what_is_set_holds_for_the_next_login_password_and_token() {
    let api = api().await;
    let admin = api.administrator();
    let body = json!({
        "tokenLifetime": {"value": 5, "unit": "minutes"}, "passwordMinLength": 20,
        "apiTokenMaxDays": 3, "systemUrl": "https://ca.example.test/chancery",
    });

    assert_eq!(admin.put(PATH, &body).await.status, 200);

    let login = json!({"username": "member", "password": crate::testing::PASSWORD});
    let token = api.anonymous().post("/api/login", &login).await.json();
    let member = api.with_token(token["token"].as_str().map(str::to_owned));
    let change = json!({"oldPassword": crate::testing::PASSWORD, "newPassword": "x".repeat(19)});
    let too_short = member.post("/api/currentuser/password", &change).await;
    let days = json!({"name": "x", "validDays": 4});
    let too_long = member.post("/api/currentuser/apitokens", &days).await;
    assert_eq!(too_short.json()["fields"][0]["message"], "must have 20 to 1024 characters");
    assert_eq!(too_long.json()["fields"][0]["field"], "validDays");
    let url = member.get("/api/admin/settings/systemUrl").await.json();
    assert_eq!(url["value"], "https://ca.example.test/chancery");
    api.clock.advance(time::Duration::minutes(5));
    assert_eq!(member.get("/api/currentuser").await.refusal().1, "token_expired");
}

#[tokio::test]
async fn each_setting_says_what_it_takes_and_an_empty_url_clears_it() {
    let api = api().await;
    let admin = api.administrator();
    let all = admin.get(PATH).await.json();
    for setting in all.as_array().unwrap() {
        let name = setting["name"].as_str().unwrap();
        let by_default = admin.put(PATH, &json!({name: setting["default"]})).await;
        assert_eq!((by_default.status.as_u16(), by_default.json()), (200, all.clone()), "{name}");
        for bound in ["minimum", "maximum"] {
            if let Some(value) = setting.get(bound) {
                assert_eq!(admin.put(PATH, &json!({name: value})).await.status, 200, "{name}");
            }
        }
        admin.put(PATH, &json!({name: setting["default"]})).await;
    }
    for (body, field) in [
        (json!({"visibility": "none"}), "visibility"),
        (json!({"loginFailures": 0}), "loginFailures"),
        (json!({"systemUrl": "javascript:x"}), "systemUrl"),
        (json!({"tokenLifetime": {"value": 31, "unit": "days"}}), "tokenLifetime"),
    ] {
        let answer = admin.put(PATH, &body).await;
        assert_eq!(answer.json()["fields"][0]["field"], field, "{}", answer.text);
    }
    admin.put(PATH, &json!({"systemUrl": "https://ca.example.test"})).await;
    admin.put(PATH, &json!({"systemUrl": null})).await;
    assert_eq!(admin.get(PATH).await.json(), all);
}
