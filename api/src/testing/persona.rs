//! Who asks, and what came back.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

/// Who asks, and with which token.
pub(crate) struct Persona {
    router: Router,
    token: Option<String>,
    address: SocketAddr,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    /// The body as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Status and `code` of an error.
    pub(crate) fn refusal(&self) -> (u16, String) {
        let code = self.json()["code"].as_str().unwrap_or_default().to_owned();
        (self.status.as_u16(), code)
    }
}

impl Persona {
    /// The id of the API token, where it is one.
    pub(crate) fn api_token_id(&self) -> Option<&str> {
        self.token.as_deref()?.strip_prefix("chancery_")?.split_once('_').map(|(id, _)| id)
    }

    /// Whoever asks `router` with this token, from this host.
    pub(crate) fn new(router: Router, token: Option<String>) -> Self {
        Self { router, token, address: (Ipv4Addr::LOCALHOST, 40_000).into() }
    }

    /// The same, who asks another process.
    pub(crate) fn at(&self, router: Router) -> Self {
        Self { router, token: self.token.clone(), address: self.address }
    }

    /// The same, who comes from `address`.
    pub(crate) fn from(self, address: &str) -> Self {
        Self { address: (address.parse::<IpAddr>().unwrap(), 40_000).into(), ..self }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path).body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, body.to_string()).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        let request = self.request(Method::PATCH, path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        let request = self.request(Method::PUT, path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.to_string().into()).unwrap()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path).body(Body::empty()).unwrap()).await
    }

    /// A body that may be no JSON, declared as JSON.
    pub(crate) async fn post_text(&self, path: &str, body: impl Into<Body>) -> Answer {
        let request = self.request(Method::POST, path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.into()).unwrap()).await
    }

    /// A request with this persona's token.
    pub(crate) fn request(&self, method: Method, path: &str) -> axum::http::request::Builder {
        let request =
            Request::builder().method(method).uri(path).extension(ConnectInfo(self.address));
        match &self.token {
            Some(token) => request.header(header::AUTHORIZATION, format!("Bearer {token}")),
            None => request,
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8_lossy(&bytes).into_owned(),
            bytes: bytes.into(),
        }
    }
}
