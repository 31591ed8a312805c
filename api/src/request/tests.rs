//! What every request gets, whatever it asks for.

mod unread;
mod wire;

use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, header};
use futures::StreamExt as _;
use serde_json::json;

use crate::error::Code;
use crate::readiness::NotReady;
use crate::testing::{api, api_with, stalled_body};

#[tokio::test]
async fn an_error_has_the_one_shape_with_path_and_request_id() {
    let api = api().await;
    let request = api.anonymous().request(Method::GET, "/api/currentuser?secret=1");
    let request = request.header("X-Request-Id", "my-id.1:2_3").body(Body::empty()).unwrap();

    let answer = api.anonymous().send(request).await;

    let expected = json!({
        "timestamp": "2026-11-28T02:00:00.000+00:00",
        "status": 401,
        "error": "Unauthorized",
        "message": "this needs a login: send Authorization: Bearer with the token of POST /api/login",
        "path": "/api/currentuser",
        "code": "token_missing",
        "requestId": "my-id.1:2_3",
    });
    assert_eq!(answer.json(), expected);
    assert_eq!(answer.headers[header::CONTENT_TYPE], "application/json");
    assert_eq!(answer.headers[header::WWW_AUTHENTICATE], "Bearer");
    assert_eq!(answer.headers["x-request-id"], "my-id.1:2_3");
}

#[tokio::test]
async fn a_request_id_that_is_not_sane_is_replaced() {
    let api = api().await;
    for id in ["", "a b", "é", "\"", "<x>", &"x".repeat(65)] {
        let request = api.anonymous().request(Method::GET, "/health/live");
        let request = request.header("X-Request-Id", id.as_bytes()).body(Body::empty()).unwrap();

        let answer = api.anonymous().send(request).await;

        let ours = answer.headers["x-request-id"].to_str().unwrap();
        assert!(ours.len() == 24 && ours.bytes().all(|b| b.is_ascii_hexdigit()), "{id}: {ours}");
    }
}

#[tokio::test]
async fn unknown_paths_and_methods_are_refused_in_the_same_shape() {
    let api = api().await;
    for (method, path, status, allow) in [
        (Method::GET, "/", 404, None),
        (Method::GET, "/api", 404, None),
        (Method::GET, "/api/nothing", 404, None),
        (Method::GET, "/api/currentuser/", 404, None),
        (Method::GET, "//api/currentuser", 404, None),
        (Method::GET, "/chancery/api/currentuser", 404, None),
        (Method::GET, "/api/login", 405, Some("POST")),
        (Method::DELETE, "/api/admin/teams", 405, Some("GET,HEAD,POST")),
        (Method::TRACE, "/health/ready", 405, Some("GET,HEAD")),
    ] {
        let admin = api.administrator();
        let request = admin.request(method.clone(), path).body(Body::empty()).unwrap();
        let answer = admin.send(request).await;
        assert_eq!(answer.json()["status"], status, "{method} {path}: {}", answer.text);
        assert_eq!(answer.json()["path"], path);
        let found = answer.headers.get(header::ALLOW).map(|value| value.to_str().unwrap());
        assert_eq!(found, allow, "{method} {path}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_however_it_comes() {
    let api = api_with(|config| config.max_body = 100).await;
    for size in [101, 400, 100_000] {
        let answer = api.anonymous().post_text("/api/login", "x".repeat(size)).await;
        assert_eq!(answer.refusal(), (413, "body_too_large".to_owned()), "{size}");
    }
    let chunks = (0..1000).map(|_| Ok::<_, std::io::Error>(vec![b'x'; 10]));
    let body = Body::from_stream(futures::stream::iter(chunks));
    let answer = api.anonymous().post_text("/api/login", body).await;
    assert_eq!(answer.refusal(), (413, "body_too_large".to_owned()));
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_before_its_end_comes() {
    let api = api_with(|config| config.max_body = 100).await;
    let begun = futures::stream::iter([Ok::<_, std::io::Error>(vec![b'x'; 101])]);
    let stalls = Body::from_stream(begun.chain(futures::stream::pending()));
    let persona = api.anonymous();

    let answer = persona.post_text("/api/login", stalls);
    let answer = tokio::time::timeout(Duration::from_secs(10), answer).await.unwrap();

    assert_eq!(answer.refusal(), (413, "body_too_large".to_owned()));
}

#[tokio::test]
async fn a_body_that_does_not_arrive_in_time_is_a_408_and_the_end_of_the_connection() {
    let api = api_with(|config| config.body_timeout = Duration::from_millis(20)).await;

    let answer = api.anonymous().post_text("/api/login", stalled_body()).await;

    assert_eq!(answer.refusal(), (408, "request_timeout".to_owned()));
    assert_eq!(answer.headers[header::CONNECTION], "close");
}

#[tokio::test]
async fn a_body_that_trickles_in_is_cut_off_all_the_same() {
    let api = api_with(|config| config.body_timeout = Duration::from_millis(100)).await;
    let trickle =
        futures::stream::unfold(tokio::time::interval(Duration::from_millis(2)), |mut t| async {
            t.tick().await;
            Some((Ok::<_, std::io::Error>(vec![b' ']), t))
        });

    let answer = api.anonymous().post_text("/api/login", Body::from_stream(trickle)).await;

    assert_eq!(answer.refusal(), (408, "request_timeout".to_owned()));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_malformed() {
    let api = api().await;
    let parts = [Ok(b"{\"username\":".to_vec()), Err(std::io::Error::other("gone"))];
    let body = Body::from_stream(futures::stream::iter(parts));

    let answer = api.anonymous().post_text("/api/login", body).await;

    assert_eq!(answer.refusal(), (400, "malformed_request".to_owned()));
}

#[tokio::test]
async fn a_panic_is_a_500_that_tells_the_client_nothing() {
    let api = api().await;
    api.state.readiness.add("broken", || async { panic!("secret of the house") });

    let answer = api.anonymous().get("/health/ready").await;

    assert_eq!(answer.refusal(), (500, "internal".to_owned()));
    assert!(!answer.text.contains("secret"), "{}", answer.text);
    assert_eq!(api.anonymous().get("/health/live").await.status, 200);
}

#[tokio::test]
async fn ready_tells_which_part_is_not_and_why() {
    let api = api().await;
    api.state.readiness.add("token", || async {
        Err(NotReady { code: Code::TokenUnavailable, message: "the token is away".to_owned() })
    });

    let answer = api.anonymous().get("/health/ready").await;

    assert_eq!(answer.status, 503);
    let expected = json!({"status": "not ready", "parts": [
        {"name": "database", "ready": true},
        {"name": "signer", "ready": true},
        {"name": "token", "ready": false, "code": "token_unavailable", "message": "the token is away"},
    ]});
    assert_eq!(answer.json(), expected);
}

#[tokio::test]
async fn without_its_database_the_service_says_so_and_when_to_come_back() {
    let api = api().await;
    api.state.store.close().await;

    let answer = api.member().get("/api/currentuser").await;
    let ready = api.anonymous().get("/health/ready").await;

    assert_eq!(answer.refusal(), (503, "database_unavailable".to_owned()));
    assert_eq!(answer.headers[header::RETRY_AFTER], "5");
    assert_eq!(ready.json()["parts"][0]["code"], "database_unavailable");
}

#[tokio::test]
async fn headers_over_the_limit_are_refused() {
    let api = api().await;
    let long = format!("Bearer a.{}.c", "x".repeat(33 * 1024));
    let request = api.anonymous().request(Method::GET, "/api/currentuser");
    let request = request.header(header::AUTHORIZATION, long).body(Body::empty()).unwrap();

    let answer = api.anonymous().send(request).await;

    assert_eq!(answer.refusal(), (431, "headers_too_large".to_owned()));
}

#[tokio::test]
async fn a_body_of_another_content_type_is_refused() {
    let api = api().await;
    for kind in
        ["application/x-www-form-urlencoded", "text/plain", "application/json; charset=utf-16"]
    {
        let request = api.anonymous().request(Method::POST, "/api/login");
        let request = request.header(header::CONTENT_TYPE, kind).body(Body::from("{}")).unwrap();
        let answer = api.anonymous().send(request).await;
        assert_eq!(answer.refusal(), (415, "unsupported_media_type".to_owned()), "{kind}");
    }
}

#[tokio::test]
async fn each_base_path_serves_everything_and_health_needs_none() {
    let paths = vec!["/chancery".to_owned(), "/certs-old".to_owned()];
    let api = api_with(|config| config.base_paths = paths).await;
    for (path, status) in [
        ("/chancery/api/currentuser", 200),
        ("/certs-old/api/currentuser", 200),
        ("/chancery/health/ready", 200),
        ("/health/ready", 200),
        ("/chancery/api/openapi.json", 200),
        ("/chancery/api/docs/", 200),
        ("/api/currentuser", 404),
        ("/chancery/chancery/api/currentuser", 404),
        ("/chancery/api/nothing", 404),
    ] {
        let answer = api.member().get(path).await;
        assert_eq!(answer.status.as_u16(), status, "{path}: {}", answer.text);
    }
}
