//! Whose token it was that was refused: told of a genuine one, whatever else is wrong with it.

use axum::body::Body;
use axum::http::{Method, header};
use chancery_shared::id::RowId;
use serde_json::{Value, json};
use time::Duration;

use super::audit;
use crate::auth::bearer::BearerTokens;
use crate::auth::token_keys::TokenKey;
use crate::testing::{Api, api};

/// A token of a login: of `version`, issued `ago`, good for an hour.
fn session(api: &Api, version: u64, ago: Duration) -> String {
    let (id, at) = (RowId::from_bytes([9; 12]), api.clock_now() - ago);
    api.state.tokens.issue(api.member_id(), version, id, at, Duration::HOUR).unwrap()
}

/// An API token of the same user and its id.
async fn machine(api: &Api) -> (String, String) {
    let new = json!({"name": "ci", "validDays": 1});
    let made = api.member().post("/api/currentuser/apitokens", &new).await.json();
    let text = |field: &str| made[field].as_str().unwrap().to_owned();
    (text("token"), text("id"))
}

/// What the audit says of a request with `token` that was refused with `code`: user id, name, API token.
async fn told(api: &Api, (method, path): (Method, &str), token: &str, code: &str) -> Value {
    let request_id = api.state.new_id::<chancery_shared::id::kind::Row>().to_string();
    let request = api.anonymous().request(method, path).header("X-Request-Id", &request_id);
    let request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
    let answer = api.anonymous().send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.refusal().1, code, "{path}: {}", answer.text);
    let entries = audit(api, &format!("requestId={request_id}")).await;
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!((&entries[0]["result"], &entries[0]["times"]), (&json!(code), &json!(1)));
    Value::from(
        ["userId", "username", "apiTokenId"].map(|field| entries[0][field].clone()).to_vec(),
    )
}

fn operations() -> [(Method, &'static str); 2] {
    [(Method::GET, "/api/certs"), (Method::DELETE, "/api/certs/650000000000000000000000")]
}

const ELSEWHERE: &str = "UPDATE team SET ip_white_list = '198.51.100.9' WHERE name = 'Default'";
const MUST_CHANGE: &str = "UPDATE account SET must_change_password = 1 WHERE username = 'member'";
const DISABLED: &str = "UPDATE account SET enabled = 0 WHERE username = 'member'";
const ANOTHER_VERSION: &str =
    "UPDATE account SET token_version = token_version + 1 WHERE username = 'member'";
const NOTHING: &str = "UPDATE account SET locked = 0";

#[tokio::test]
async fn a_genuine_token_names_its_user_whatever_else_is_wrong() {
    let old = Duration::hours(1);
    for (name, sql, ago, code) in [
        ("an address that the team forbids", ELSEWHERE, Duration::ZERO, "address_not_allowed"),
        ("a password to be changed", MUST_CHANGE, Duration::ZERO, "password_change_required"),
        ("disabled", DISABLED, Duration::ZERO, "token_invalid"),
        ("ended with the password", ANOTHER_VERSION, Duration::ZERO, "token_invalid"),
        ("expired", NOTHING, old, "token_expired"),
        ("expired and disabled", DISABLED, old, "token_expired"),
        ("of a clock that is ahead", NOTHING, -old, "token_invalid"),
    ] {
        let api = api().await;
        api.state.store.execute_for_test(sql).await;
        for operation in operations() {
            let found = told(&api, operation, &session(&api, 1, ago), code).await;

            assert_eq!(found, json!([api.member_id(), "member", null]), "{name}");
        }
    }
}

#[tokio::test]
async fn a_genuine_api_token_names_its_user_and_itself_whatever_else_is_wrong() {
    for (name, sql, days, code) in [
        ("an address that the team forbids", ELSEWHERE, 0, "address_not_allowed"),
        ("a password to be changed", MUST_CHANGE, 0, "password_change_required"),
        ("disabled", DISABLED, 0, "token_invalid"),
        ("expired", NOTHING, 1, "token_expired"),
    ] {
        let api = api().await;
        let (token, id) = machine(&api).await;
        api.state.store.execute_for_test(sql).await;
        api.clock.advance(Duration::days(days));
        for operation in operations() {
            let found = told(&api, operation, &token, code).await;

            assert_eq!(found, json!([api.member_id(), "member", id]), "{name}");
        }
    }
}

#[tokio::test]
async fn the_token_of_a_login_names_its_user_after_the_logout_and_by_the_id_alone_after_the_deletion()
 {
    let api = api().await;
    let token = session(&api, 1, Duration::ZERO);
    let holder = api.with_token(Some(token.clone()));
    assert_eq!(holder.post("/api/logout", &json!({})).await.status, 200);
    for operation in operations() {
        let found = told(&api, operation, &token, "token_invalid").await;

        assert_eq!(found, json!([api.member_id(), "member", null]));
    }
    let path = format!("/api/admin/users/{}", api.member_id());
    assert_eq!(api.administrator().delete(&path).await.status, 200);
    for operation in operations() {
        let found = told(&api, operation, &token, "token_invalid").await;

        assert_eq!(found, json!([api.member_id(), null, null]));
    }
}

#[tokio::test]
async fn a_token_that_is_not_genuine_names_nobody() {
    let api = api().await;
    let genuine = session(&api, 1, Duration::ZERO);
    let (machine, id) = machine(&api).await;
    let foreign = |id: &str, byte: u8| {
        let key = TokenKey { id: id.to_owned(), secret: vec![byte; 32].into() };
        let token = RowId::from_bytes([9; 12]);
        let (user, now) = (api.member_id(), api.clock_now());
        BearerTokens::new(&[key]).issue(user, 1, token, now, Duration::HOUR).unwrap()
    };
    let (rest, signature) = genuine.rsplit_once('.').unwrap();
    let (ended, path) = (machine.clone(), format!("/api/currentuser/apitokens/{id}"));
    let other_secret = format!("chancery_{id}_{}", "0".repeat(64));
    let other_id = machine.replace(&id, &"0".repeat(24));
    let flipped: String = signature.chars().rev().collect();
    let tokens = [
        ("of another key", foreign(&"a".repeat(24), 8)),
        ("of a key that is not there", foreign(&"b".repeat(24), 7)),
        ("without a signature", format!("{rest}.")),
        ("with another signature", format!("{rest}.{flipped}")),
        ("no token", "member".to_owned()),
        ("another secret", other_secret),
        ("another id", other_id),
        ("cut", machine[..machine.len() - 1].to_owned()),
        ("ended, of which nothing is left", ended),
    ];
    for (name, token) in tokens {
        if name.starts_with("ended") {
            assert_eq!(api.member().delete(&path).await.status, 200);
        }
        for operation in operations() {
            let found = told(&api, operation, &token, "token_invalid").await;

            assert_eq!(found, json!([null, null, null]), "{name}");
        }
    }
}
