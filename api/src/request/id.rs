//! The id that traces one request from the client to the signer's journal.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use chancery_shared::id::RowId;

/// The caller's `X-Request-Id` if it is a sane one, else one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// The caller's id where it can stand in a log, a header and the journal as it is.
    pub(super) fn of_caller(headers: &HeaderMap) -> Option<Self> {
        let text = headers.get(HEADER)?.to_str().ok()?;
        let is_sane = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
        let fits = (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_sane);
        fits.then(|| Self(text.into()))
    }

    /// A new id of our own.
    pub(super) fn new(id: RowId) -> Self {
        Self(id.to_string().into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<S: Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        // Every request passes the layer that sets it; outside of it there is nothing to trace.
        Ok(parts.extensions.get().cloned().unwrap_or_else(|| Self("".into())))
    }
}

/// The header that carries it, both ways.
pub(super) const HEADER: &str = "x-request-id";
const MAX_LENGTH: usize = 64;
