//! Calls that must leave their entries.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Method, header};
use chancery_shared::id::UserId;
use serde_json::{Value, json};

use super::audit;
use crate::testing::{Answer, Api, Persona};

/// Sends `body` as the request of this id.
pub(super) async fn send(
    persona: &Persona,
    method: &str,
    path: &str,
    id: &str,
    body: &Value,
) -> Answer {
    let method: Method = method.to_uppercase().parse().unwrap();
    let request = persona.request(method, path).header("X-Request-Id", id);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    persona.send(request.body(body).unwrap()).await
}

/// Who acts as `user` by an API token.
pub(super) async fn machine(api: &Api, user: UserId) -> Persona {
    let path = format!("/api/admin/users/{user}/apitokens");
    let made = api.administrator().post(&path, &json!({"name": "robot", "validDays": 1})).await;
    api.with_token(made.json()["token"].as_str().map(str::to_owned))
}

/// Calls, each of which must succeed and leave its entry.
pub(super) struct Calls<'a> {
    pub(super) api: &'a Api,
    pub(super) done: BTreeSet<(String, String)>,
}

impl Calls<'_> {
    pub(super) async fn call(
        &mut self,
        persona: (&str, &Persona),
        (method, template): (&str, &str),
        id: &str,
        body: Value,
        told: (&str, &str),
    ) -> Value {
        let request_id = format!("call-{}", self.done.len());
        let (id, token) = id.split_once(' ').unwrap_or((id, ""));
        let path = template.replace("{id}", id).replace("{tokenId}", token);
        let answer = send(persona.1, method, &path, &request_id, &body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
        let entries = audit(self.api, &format!("requestId={request_id}")).await;
        assert!(!entries.is_empty(), "{method} {path} left nothing");
        for entry in &entries {
            assert_eq!(entry["username"], persona.0, "{method} {path}: {entry}");
            let token = persona.1.api_token_id();
            assert_eq!(entry["apiTokenId"], json!(token), "{method} {path}: {entry}");
            assert_eq!(entry["result"], "ok", "{method} {path}: {entry}");
        }
        let words = |entry: &Value| (entry["action"] == told.0) && (entry["objectKind"] == told.1);
        assert!(entries.iter().any(words), "{method} {path}: {entries:?}");
        self.done.insert((method.to_owned(), template.to_owned()));
        serde_json::from_str(&answer.text).unwrap_or_default()
    }
}
