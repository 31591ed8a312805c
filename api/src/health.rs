//! `/health/live` and `/health/ready`, for whatever watches over the service.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::app::AppState;
use crate::error::{Code, OwnBody};

/// Both paths; they need no login and tell nothing secret.
pub fn routes() -> Router<AppState> {
    Router::new().route("/health/live", get(live)).route("/health/ready", get(ready))
}

#[derive(Serialize)]
struct Health {
    status: &'static str,
    parts: Vec<PartHealth>,
}

#[derive(Serialize)]
struct PartHealth {
    name: &'static str,
    ready: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// The process answers; whether it can work is another question.
async fn live() -> Response {
    Json(Health { status: "live", parts: Vec::new() }).into_response()
}

/// 200 where every part can work, else 503 with what is wrong.
async fn ready(State(state): State<AppState>) -> Response {
    let mut parts = Vec::new();
    for (name, answer) in state.readiness.ask().await {
        let (code, message) = match answer {
            Ok(()) => (None, None),
            Err(reason) => (Some(reason.code), Some(reason.message)),
        };
        parts.push(PartHealth { name, ready: code.is_none(), code, message });
    }
    if parts.iter().all(|part| part.ready) {
        return Json(Health { status: "ready", parts }).into_response();
    }
    let mut response = Json(Health { status: "not ready", parts }).into_response();
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response.extensions_mut().insert(OwnBody);
    response
}
