//! Bodies: JSON objects, read strictly and with errors that name the field.

mod absent;
mod fault;
mod whole;

use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use time::Duration;

pub use absent::{
    empty_clears, empty_clears_list, empty_is_absent, empty_is_default, empty_is_no_list,
    must_be_absent,
};

pub use whole::{Unranged, Whole};

use crate::app::AppState;
use crate::auth;
use crate::error::{ApiError, Code};
use crate::request::read_body;

#[cfg(test)]
mod tests;

/// A body, in and out. Coming in it must be a JSON object in UTF-8, declared as such; `T` should
/// deny unknown fields, so that a typo is not silently lost.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<AppState> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        read(request, state, state.config.max_body).await.map(Self)
    }
}

/// A body of a call that takes files: the same up to [`MAX_LARGE_BODY`] bytes.
#[derive(Clone, Copy, Debug)]
pub struct LargeJson<T>(pub T);

/// Bytes; the limit of all other bodies is a setting.
pub const MAX_LARGE_BODY: usize = 10 * 1024 * 1024;

impl<T: DeserializeOwned> FromRequest<AppState> for LargeJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &AppState) -> Result<Self, ApiError> {
        read(request, state, state.config.max_body.max(MAX_LARGE_BODY)).await.map(Self)
    }
}

async fn read<T: DeserializeOwned>(
    request: Request,
    state: &AppState,
    limit: usize,
) -> Result<T, ApiError> {
    let is_json = is_json(request.headers());
    let (parts, body) = request.into_parts();
    let began = state.clock.since_boot();
    // Read before it is refused, so that the client gets to see why.
    let bytes = read_body(body, limit, state.config.body_timeout).await?;
    if state.clock.since_boot() - began > HELD_BACK {
        auth::check_again(parts, state).await?;
    }
    if !is_json {
        return Err(ApiError::refused(
            Code::UnsupportedMediaType,
            "the body must be JSON in UTF-8: send Content-Type: application/json",
        ));
    }
    parse(&bytes)
}

/// Whose body takes longer may have lost their rights meanwhile.
const HELD_BACK: Duration = Duration::milliseconds(100);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

/// Reads a JSON object.
///
/// # Errors
///
/// [`Code::MalformedRequest`] where it is none, [`Code::InvalidRequest`] naming the field where
/// it is not a `T`.
fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let position = error.valid_up_to();
        malformed(format!("the body is not UTF-8: byte {position} is none of it"))
    })?;
    // Some clients put a byte order mark in front (RFC 8259, section 8.1, lets a reader ignore it).
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = text.trim_start_matches([' ', '\t', '\r', '\n']);
    if start.is_empty() {
        return Err(malformed("the body is empty; send a JSON object".to_owned()));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    if !start.starts_with('{') {
        // Say of a broken text that it is broken, of a whole one that it is no object.
        serde_json::from_str::<serde::de::IgnoredAny>(text)
            .map_err(|error| fault::syntax(&error))?;
        return Err(malformed("the body must be a JSON object".to_owned()));
    }
    if has_nul(text) {
        return Err(malformed("the body has a text with a NUL character; leave it out".to_owned()));
    }
    let value = serde_path_to_error::deserialize(&mut reader).map_err(fault::describe)?;
    reader.end().map_err(|error| fault::syntax(&error))?;
    Ok(value)
}

/// Reads what was put together from the parts of a request.
///
/// # Errors
///
/// [`Code::InvalidRequest`] naming the field where it is not a `T`.
pub(crate) fn from_value<T: DeserializeOwned>(value: serde_json::Value) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(value).map_err(fault::describe)
}

fn malformed(message: String) -> ApiError {
    ApiError::refused(Code::MalformedRequest, message)
}

/// `application/json`, with no parameter but `charset=utf-8`.
fn is_json(headers: &HeaderMap) -> bool {
    let mut all = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (all.next(), all.next()) else { return false };
    let Ok(text) = value.to_str() else { return false };
    let mut parts = text.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case("application/json")
        && parts.all(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            parameter.is_empty()
                || !name.trim().eq_ignore_ascii_case("charset")
                || value.trim().trim_matches('"').eq_ignore_ascii_case("utf-8")
        })
}

/// Whether a string of the JSON text has the escape of U+0000, which PostgreSQL can't store. The
/// bare byte is no JSON.
fn has_nul(text: &str) -> bool {
    text.match_indices("\\u0000").any(|(at, _)| {
        let before = text.as_bytes().get(..at).unwrap_or_default();
        before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
    })
}
