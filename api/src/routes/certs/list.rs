//! `GET /certs`: all certificates, streamed, or a page of them.

use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, LINK};
use axum::response::{IntoResponse as _, Response};
use chancery_shared::id::CertificateId;
use futures::stream::{self, StreamExt as _};
use serde::Deserialize;
use time::OffsetDateTime;

use super::super::json::certificate::CertificateRecord;
use crate::app::AppState;
use crate::auth::Actor;
use crate::certificate::fields::NotACertificate;
use crate::error::{ApiError, JsonError};
use crate::json::{Json, empty_is_absent};
use crate::request::Query;
use crate::store::StoreError;
use crate::store::certificate::StoredCertificate;

/// The parameters of the list.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Parameters {
    #[serde(deserialize_with = "empty_is_absent")]
    limit: Option<String>,
    #[serde(deserialize_with = "empty_is_absent")]
    after: Option<String>,
}

/// All certificates, in the order of their ids, which is that of asking. Without `limit`
/// all of them come in one answer. With it, a `Link` header with `rel="next"` says where the next
/// page is, while there is one.
#[utoipa::path(
    get, path = "/certs", tag = "Certificates",
    params(
        ("limit" = Option<u32>, Query, description = "1 to 1000"),
        ("after" = Option<String>, Query, description = "the id of the last one that is known"),
    ),
    responses(
        (status = 200, body = Vec<CertificateRecord>), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn list(
    State(state): State<AppState>,
    _actor: Actor,
    OriginalUri(uri): OriginalUri,
    Query(parameters): Query<Parameters>,
) -> Result<Response, ApiError> {
    let after = parameters.after.as_deref().map(str::parse).transpose();
    let after = after.map_err(|_| ApiError::invalid_field("after", "must be the id of one"))?;
    let Some(limit) = parameters.limit else { return all(&state, after).await };
    let limit = limit.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
    let limit = limit.ok_or_else(|| {
        ApiError::invalid_field("limit", format!("must be a number from 1 to {MAX_LIMIT}"))
    })?;
    page(&state, after, limit, uri.path()).await
}

async fn page(
    state: &AppState,
    after: Option<CertificateId>,
    limit: u32,
    path: &str,
) -> Result<Response, ApiError> {
    let now = state.clock.now();
    // One more tells whether there is a next page.
    let mut found = state.store.certificates_after(after, limit.saturating_add(1)).await?;
    let has_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let records = found.iter().map(|stored| CertificateRecord::new(stored, now));
    let records = records.collect::<Result<Vec<_>, _>>().map_err(ApiError::internal)?;
    let mut response = Json(records).into_response();
    if let (true, Some(last)) = (has_more, found.last()) {
        let id = last.certificate.id;
        let link = format!("<{path}?limit={limit}&after={id}>; rel=\"next\"");
        let link = HeaderValue::from_str(&link).map_err(ApiError::internal)?;
        response.headers_mut().insert(LINK, link);
    }
    Ok(response)
}

/// Takes the same memory for any number: what the client has not read is not in it.
async fn all(state: &AppState, after: Option<CertificateId>) -> Result<Response, ApiError> {
    let now = state.clock.now();
    let mut rows = state.store.certificates(after).fuse();
    // Read before the status goes out, so that a database that is away is told as such.
    let first = rows.next().await.transpose()?;
    let rows = stream::iter(first.map(Ok)).chain(rows);
    let items = rows.enumerate().map(move |(index, row)| {
        item(index, row, now).inspect_err(|error| {
            // The status is out: all that is left is to break off, so that nobody takes a part
            // for the whole.
            tracing::error!(error = %crate::log::Chain(error), "a list of certificates broke off");
        })
    });
    let mark = |mark: &'static [u8]| stream::iter([Ok(Bytes::from_static(mark))]);
    let body = Body::from_stream(mark(b"[").chain(items).chain(mark(b"]")));
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

/// Why a list breaks off.
#[derive(Debug, thiserror::Error)]
enum BrokenOff {
    #[error("the database broke off")]
    Store(#[from] StoreError),
    #[error("a stored certificate is none")]
    NotACertificate(#[from] NotACertificate),
    #[error("a record can't be written")]
    Json(#[from] serde_json::Error),
}

fn item(
    index: usize,
    row: Result<StoredCertificate, StoreError>,
    now: OffsetDateTime,
) -> Result<Bytes, BrokenOff> {
    let record = CertificateRecord::new(&row?, now)?;
    let mut text = if index == 0 { Vec::new() } else { vec![b','] };
    serde_json::to_writer(&mut text, &record)?;
    Ok(text.into())
}

/// So many make a page at most.
const MAX_LIMIT: u32 = 1000;
