//! The hard cases of `tests/cases/jwt` and their like: tokens that someone made, changed or sent in
//! another way. Each is 401 and says no more than any other.

use aws_lc_rs::hmac;
use axum::body::Body;
use axum::http::{Method, Request, header};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use chancery_shared::id::RowId;
use serde_json::{Value, json};

use crate::testing::{Answer, Api, api};

/// What the service of the tests signs with, see [`crate::testing::api`].
const SECRET: [u8; 32] = [7; 32];

/// A real token of the administrator.
fn real(api: &Api) -> String {
    let id = RowId::from_bytes([9; 12]);
    let (admin, now) = (api.admin_id(), api.clock_now());
    api.state.tokens.issue(admin, 1, id, now, time::Duration::HOUR).unwrap()
}

/// A token of these parts, signed as the service signs.
fn signed(header: &Value, claims: &Value) -> String {
    let part = |value: &Value| BASE64.encode(value.to_string());
    let text = format!("{}.{}", part(header), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, &SECRET);
    format!("{text}.{}", BASE64.encode(hmac::sign(&key, text.as_bytes())))
}

async fn send(api: &Api, path: &str, values: &[&[u8]]) -> Answer {
    let mut request = Request::builder().method(Method::GET).uri(path);
    for value in values {
        request = request.header(header::AUTHORIZATION, *value);
    }
    api.anonymous().send(request.body(Body::empty()).unwrap()).await
}

/// Sends it to a path of any user and to one of administrators; both refuse it alike.
async fn check_refused(api: &Api, what: &str, token: &str) {
    for path in ["/api/certs", "/api/admin/users"] {
        let answer = send(api, path, &[format!("Bearer {token}").as_bytes()]).await;
        assert_eq!(answer.refusal(), (401, "token_invalid".to_owned()), "{what}: {path}");
        assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer", "{what}");
        let message = answer.json()["message"].clone();
        assert_eq!(message, "the token is not valid; log in again", "{what}");
    }
}

#[tokio::test]
async fn tokens_that_others_made_are_refused() {
    let api = api().await;
    for (name, tokens) in [
        ("alg none", include_str!("../../../../tests/cases/jwt/jwt-001.txt")),
        ("known keys", include_str!("../../../../tests/cases/jwt/jwt-003.txt")),
        ("zero signature", include_str!("../../../../tests/cases/jwt/jwt-011.txt")),
        ("crit", include_str!("../../../../tests/cases/jwt/jwt-012.txt")),
    ] {
        for token in tokens.lines().filter(|line| !line.is_empty()) {
            check_refused(&api, name, token).await;
        }
    }
}

#[tokio::test]
async fn a_real_token_that_was_changed_is_refused() {
    let api = api().await;
    let token = real(&api);
    let [head, claims, signature] = token.split('.').collect::<Vec<_>>()[..] else { panic!() };
    let mut edited: Value = serde_json::from_slice(&BASE64.decode(claims).unwrap()).unwrap();
    edited["sub"] = json!(api.member_id());
    let edited = BASE64.encode(edited.to_string());
    let none = BASE64.encode(json!({"alg": "none", "kid": "a".repeat(24)}).to_string());
    let last = signature.chars().last().unwrap();
    let next = char::from(u8::try_from(last).unwrap() + 1);
    let other_last = format!("{}{next}", &signature[..signature.len() - 1]);
    assert_eq!(send(&api, "/api/certs", &[format!("Bearer {token}").as_bytes()]).await.status, 200);
    for (what, changed) in [
        ("edited claims", format!("{head}.{edited}.{signature}")),
        ("no signature", format!("{head}.{claims}.")),
        ("two parts", format!("{head}.{claims}")),
        ("four parts", format!("{token}.x")),
        ("five parts", format!("{token}.x.y")),
        ("last character", format!("{head}.{claims}.{other_last}")),
        ("padding", format!("{token}=")),
        ("blank inside", format!("{head}. {claims}.{signature}")),
        ("alg none", format!("{none}.{claims}.")),
        ("alg none, signed", format!("{none}.{claims}.{signature}")),
        ("quotes", format!("\"{token}\"")),
        ("no token", "x".to_owned()),
        ("dots", "..".to_owned()),
    ] {
        check_refused(&api, what, &changed).await;
    }
}

#[tokio::test]
async fn claims_and_algorithms_that_are_not_ours_are_refused_though_our_key_signed_them() {
    let api = api().await;
    let now = api.clock_now().unix_timestamp();
    let head = json!({"alg": "HS256", "kid": "a".repeat(24)});
    let good = json!({
        "sub": api.admin_id(), "iat": now, "exp": now + 60, "jti": "0".repeat(24), "ver": 1,
    });
    let with = |field: &str, value: Value| {
        let mut claims = good.clone();
        claims[field] = value;
        claims
    };
    let mut endless = good.clone();
    endless.as_object_mut().unwrap().remove("exp");
    let bearer = format!("Bearer {}", signed(&head, &good));
    assert_eq!(send(&api, "/api/certs", &[bearer.as_bytes()]).await.status, 200);
    for (what, token) in [
        ("exp as text", signed(&head, &with("exp", json!("tomorrow")))),
        ("exp negative", signed(&head, &with("exp", json!(-1)))),
        ("exp huge", signed(&head, &with("exp", json!(1e308)))),
        ("exp null", signed(&head, &with("exp", Value::Null))),
        ("no exp", signed(&head, &endless)),
        ("no claims", signed(&head, &json!({}))),
        ("a list of claims", signed(&head, &json!([1]))),
        ("of the future", signed(&head, &with("iat", json!(now + 3600)))),
        ("far future", signed(&head, &with("iat", json!(4_102_444_800_i64)))),
        ("another version", signed(&head, &with("ver", json!(2)))),
        ("another user", signed(&head, &with("sub", json!("f".repeat(24))))),
        ("a name for a user", signed(&head, &with("sub", json!("admin")))),
        ("HS512", signed(&json!({"alg": "HS512", "kid": "a".repeat(24)}), &good)),
        ("RS256", signed(&json!({"alg": "RS256", "kid": "a".repeat(24)}), &good)),
        ("none", signed(&json!({"alg": "none", "kid": "a".repeat(24)}), &good)),
        ("no alg", signed(&json!({"kid": "a".repeat(24)}), &good)),
        ("no kid", signed(&json!({"alg": "HS256"}), &good)),
        ("another kid", signed(&json!({"alg": "HS256", "kid": "../secret"}), &good)),
    ] {
        check_refused(&api, what, &token).await;
    }
    let expired = signed(
        &head,
        &json!({
            "sub": api.admin_id(), "iat": now - 60, "exp": now, "jti": "0".repeat(24), "ver": 1,
        }),
    );
    let answer = send(&api, "/api/certs", &[format!("Bearer {expired}").as_bytes()]).await;
    assert_eq!(answer.refusal(), (401, "token_expired".to_owned()));
}

#[tokio::test]
async fn huge_tokens_are_refused_and_the_next_request_works() {
    let api = api().await;
    for (size, status) in [(10_000, 401), (16 << 10, 401), (1 << 20, 431)] {
        let token = format!("Bearer a.{}.c", "b".repeat(size));

        let answer = send(&api, "/api/certs", &[token.as_bytes()]).await;

        assert_eq!(answer.status, status, "{size}");
        assert_eq!(api.member().get("/api/certs").await.status, 200);
    }
}

#[tokio::test]
async fn the_scheme_is_known_in_any_case_and_a_token_anywhere_else_is_none() {
    let api = api().await;
    let token = real(&api);
    let with = |before: &str| format!("{before}{token}").into_bytes();
    let twice = with("Bearer ");
    for (values, path, expected) in [
        (vec![with("bearer ")], "/api/certs".to_owned(), None),
        (vec![with("BEARER ")], "/api/certs".to_owned(), None),
        (vec![with("Bearer  ")], "/api/certs".to_owned(), None),
        (vec![with("Bearer Bearer ")], "/api/certs".to_owned(), None),
        (vec![with("")], "/api/certs".to_owned(), Some("token_invalid")),
        (vec![with("Basic ")], "/api/certs".to_owned(), Some("token_invalid")),
        (vec![with("Token ")], "/api/certs".to_owned(), Some("token_invalid")),
        (vec![twice.clone(), twice], "/api/certs".to_owned(), Some("token_invalid")),
        (vec![b"Bearer".to_vec()], "/api/certs".to_owned(), Some("token_missing")),
        (vec![b"Bearer \xff\xfe".to_vec()], "/api/certs".to_owned(), Some("token_invalid")),
        (Vec::new(), format!("/api/certs?token={token}"), Some("token_missing")),
        (Vec::new(), format!("/api/certs?access_token={token}"), Some("token_missing")),
    ] {
        let headers: Vec<_> = values.iter().map(Vec::as_slice).collect();
        let answer = send(&api, &path, &headers).await;
        match expected {
            None => assert_eq!(answer.status, 200, "{values:?}"),
            Some(code) => assert_eq!(answer.refusal(), (401, code.to_owned()), "{values:?}"),
        }
    }
}
