//! What is told of an API token, from its making to its end, is found by its id.

use serde_json::{Value, json};

use super::audit;
use crate::testing::{Api, Persona, api};

const OWN: &str = "/api/currentuser/apitokens";

async fn make(api: &Api, by: &Persona, path: &str) -> (String, Persona) {
    let made = by.post(path, &json!({"name": "ci", "validDays": 2})).await.json();
    let machine = api.with_token(made["token"].as_str().map(str::to_owned));
    (made["id"].as_str().unwrap().to_owned(), machine)
}

/// Who, what and how it ended, and whose token it was before and after.
fn words(entry: &Value) -> Vec<Value> {
    assert_eq!(entry["objectKind"], "apitokens", "{entry}");
    let words = ["username", "action", "result"].map(|field| entry[field].clone());
    let user = |when: &str| entry[when]["userId"].clone();
    words.into_iter().chain([user("before"), user("after")]).collect()
}

#[tokio::test]
async fn creation_refused_deletion_and_deletion_are_found_by_the_id_of_the_token() {
    let api = api().await;
    let (admin, member) = (api.administrator(), api.member());
    let (admin_id, member_id) = (api.admin_id().to_string(), api.member_id().to_string());
    let of = |user: &str| format!("/api/admin/users/{user}/apitokens");
    let (create, delete) = ("create API token", "delete API token");
    let (owner, other) = (json!(member_id), json!(admin_id));
    let by_admin = json!(["admin", create, "ok", null, owner]);
    let by_member = json!(["member", create, "ok", null, owner]);
    for (maker, path, by, way, told) in [
        (
            &admin,
            of(&member_id),
            &admin,
            of(&member_id),
            json!(["admin", delete, "ok", owner, null]),
        ),
        (
            &member,
            OWN.to_owned(),
            &member,
            OWN.to_owned(),
            json!(["member", delete, "ok", owner, null]),
        ),
        // Whose it is does not hang on whose the path calls it.
        (
            &admin,
            of(&member_id),
            &admin,
            of(&admin_id),
            json!(["admin", delete, "not_found", owner, null]),
        ),
        (
            &admin,
            of(&member_id),
            &admin,
            OWN.to_owned(),
            json!(["admin", delete, "not_found", owner, null]),
        ),
        // Nobody looked: the path is all that is known.
        (
            &admin,
            of(&member_id),
            &member,
            of(&member_id),
            json!(["member", delete, "not_administrator", owner, null]),
        ),
        (
            &admin,
            of(&member_id),
            &member,
            of(&admin_id),
            json!(["member", delete, "not_administrator", other, null]),
        ),
        (
            &admin,
            of(&member_id),
            &api.anonymous(),
            of(&member_id),
            json!([null, delete, "token_missing", owner, null]),
        ),
    ] {
        let (id, _) = make(&api, maker, &path).await;

        by.delete(&format!("{way}/{id}")).await;

        let found = audit(&api, &format!("objectId={id}")).await;
        let made = if path == OWN { &by_member } else { &by_admin };
        let found: Vec<_> = found.iter().map(|entry| Value::from(words(entry))).collect();
        assert_eq!(found, [told, made.clone()], "{way}");
    }
}

#[tokio::test]
async fn a_logout_with_an_api_token_is_the_end_of_that_token() {
    let api = api().await;
    for (method, path) in [("post", "/api/logout"), ("get", "/api/logouthere")] {
        let (id, machine) = make(&api, &api.member(), OWN).await;

        let answer = match method {
            "post" => machine.post(path, &json!({})).await,
            _ => machine.get(path).await,
        };

        assert_eq!(answer.status, 200, "{path}");
        let found = audit(&api, &format!("objectId={id}")).await;
        let owner = api.member_id().to_string();
        assert_eq!(
            words(&found[0]),
            [json!("member"), json!("delete API token"), json!("ok"), json!(owner), Value::Null]
        );
        let told = ["objectName", "apiTokenId"].map(|field| found[0][field].clone());
        assert_eq!(told, [json!("ci"), json!(id)], "{path}");
    }
}

#[tokio::test]
async fn a_refused_creation_names_the_user_whom_the_token_was_for() {
    let api = api().await;
    let path = format!("/api/admin/users/{}/apitokens", api.admin_id());

    api.member().post(&path, &json!({"name": "ci"})).await;

    let found = audit(&api, "objectKind=apitokens").await;
    let told = ["action", "result", "objectId", "after"].map(|field| found[0][field].clone());
    let after = json!({"userId": api.admin_id().to_string()});
    assert_eq!(told, [json!("create API token"), json!("not_administrator"), Value::Null, after]);
}

#[tokio::test]
async fn what_is_done_with_an_api_token_leads_to_who_made_it() {
    let api = api().await;
    let path = format!("/api/admin/users/{}/apitokens", api.member_id());
    let (id, machine) = make(&api, &api.administrator(), &path).await;

    machine.get("/api/admin/users").await;

    let used = audit(&api, "username=member").await;
    assert_eq!(used[0]["apiTokenId"], json!(id));
    let made = audit(&api, &format!("objectId={id}")).await;
    assert_eq!((&made[0]["username"], &made[0]["objectName"]), (&json!("admin"), &json!("ci")));
}
