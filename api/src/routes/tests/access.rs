//! Who gets through to which route: told from the OpenAPI document, so that no route is forgotten.

use axum::body::Body;
use axum::http::Method;

use crate::testing::api;

/// Needs no login.
const OPEN: &[(&str, &str)] = &[("post", "/api/login")];

/// Below `/api/admin`, yet for any user to read.
const READABLE: &[(&str, &str)] = &[
    ("get", "/api/admin/ca"),
    ("get", "/api/admin/ca/chainbyname/{caName}"),
    ("get", "/api/admin/generators"),
    ("get", "/api/admin/settings/systemUrl"),
];

/// Method and path of every route, with ids filled in.
async fn routes() -> Vec<(String, String)> {
    let api = api().await;
    let document = api.anonymous().get("/api/openapi.json").await.json();
    let mut routes = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            routes.push((method.clone(), path.clone()));
        }
    }
    routes
}

fn filled(path: &str) -> String {
    let id = "0".repeat(24);
    let parts = path.split('/').map(|part| if part.starts_with('{') { id.as_str() } else { part });
    parts.collect::<Vec<_>>().join("/")
}

#[tokio::test]
async fn without_a_token_nothing_but_login_is_open() {
    let api = api().await;
    let routes = routes().await;
    assert!(routes.len() >= 10);
    for (method, path) in routes {
        if OPEN.contains(&(&method, &path)) {
            continue;
        }
        let verb: Method = method.to_uppercase().parse().unwrap();
        let request = api.anonymous().request(verb, &filled(&path)).body(Body::empty()).unwrap();
        let answer = api.anonymous().send(request).await;
        assert_eq!(answer.refusal(), (401, "token_missing".to_owned()), "{method} {path}");
    }
}

#[tokio::test]
async fn below_admin_a_member_gets_no_further_than_403() {
    let api = api().await;
    for (method, path) in routes().await {
        if !path.starts_with("/api/admin/") || READABLE.contains(&(&method, &path)) {
            continue;
        }
        let verb: Method = method.to_uppercase().parse().unwrap();
        let request = api.member().request(verb, &filled(&path)).body(Body::empty()).unwrap();
        let answer = api.member().send(request).await;
        assert_eq!(answer.refusal(), (403, "not_administrator".to_owned()), "{method} {path}");
    }
}

#[tokio::test]
async fn the_document_describes_paths_below_api_and_the_scheme_jwt() {
    let api = api().await;

    let document = api.anonymous().get("/api/openapi.json").await.json();

    assert_eq!(document["openapi"], "3.1.0");
    let scheme = &document["components"]["securitySchemes"]["JWT"];
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&"http".into(), &"bearer".into()));
    for path in document["paths"].as_object().unwrap().keys() {
        assert!(path.starts_with("/api/"), "{path}");
    }
    let error = &document["components"]["schemas"]["Error"]["properties"];
    for field in ["timestamp", "status", "error", "message", "path", "code", "requestId"] {
        assert!(error[field].is_object(), "{field} in {error}");
    }
}

#[tokio::test]
async fn the_explorer_needs_no_token() {
    let api = api().await;

    let redirect = api.anonymous().get("/api/docs").await;
    let page = api.anonymous().get("/api/docs/").await;
    let start = api.anonymous().get("/api/docs/swagger-initializer.js").await;

    assert_eq!(redirect.headers["location"], "docs/");
    assert!(page.text.contains("swagger-ui"), "{}", page.text);
    assert!(start.text.contains("../openapi.json"), "{}", start.text);
    assert_eq!(api.anonymous().get("/api/docs/none").await.status, 404);
}
