//! `/admin/audit`: who did what.

mod download;

use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, LINK};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, StreamExt as _, TryStreamExt as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::download::Download;
use super::json::audit::{AuditChainItem, AuditItem, AuditQuery, Wanted};
use super::paging::without_after;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::request::Query;
use crate::store::audit::{Order, StoredAuditEntry};
use crate::store::{Store, StoreError};

/// The audit, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list)).routes(routes!(download)).routes(routes!(verify))
}

/// Entries that every given filter holds for, the latest first, a page of them. A `Link` header with
/// `rel="next"` says where the next page is, while there may be one.
#[utoipa::path(
    get, path = "/admin/audit", tag = "Audit", params(AuditQuery),
    responses((status = 200, body = Vec<AuditItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
    OriginalUri(uri): OriginalUri,
    Query(query): Query<AuditQuery>,
) -> Result<Response, ApiError> {
    let Wanted { search, after, limit } = query.check()?;
    let limit = limit.unwrap_or(PER_PAGE);
    let found = state.store.audit_entries(&search, Order::NewestFirst, after, limit).await?;
    let is_full = u32::try_from(found.len()).unwrap_or(u32::MAX) == limit;
    let next = found.last().filter(|_| is_full).map(StoredAuditEntry::place);
    let items: Vec<_> = found.into_iter().map(AuditItem::from).collect();
    let mut response = Json(items).into_response();
    let link = next.map(|next| format!("<{}after={next}>; rel=\"next\"", without_after(&uri)));
    if let Some(link) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
        response.headers_mut().insert(LINK, link);
    }
    Ok(response)
}

/// The same entries, all of them, the first one first: a JSON object on each line. A later download
/// with what `Audit-After` says as `after` brings every entry that this one has not, chain by chain,
/// also one that was written later and tells of an earlier moment.
#[utoipa::path(
    get, path = "/admin/audit/download", tag = "Audit", params(AuditQuery),
    responses(
        (status = 200, content_type = "application/jsonl", body = String),
        (status = "default", body = JsonError),
    ),
)]
async fn download(
    State(state): State<AppState>,
    _by: Administrator,
    Query(query): Query<AuditQuery>,
) -> Result<Response, ApiError> {
    let Wanted { search, after, limit } = query.check()?;
    if limit.is_some() {
        return Err(ApiError::invalid_field("limit", "is for pages; a download has all of them"));
    }
    let mut download = Download::begin(&state.store, search, after).await?;
    let later = download.progress().to_string();
    // Read before the status goes out, so that a database that is away is told as such.
    let first = download.page().await?;
    let next = |(mut download, page): (Download, Option<Vec<StoredAuditEntry>>)| async move {
        let Some(page) = page else { return Ok(None) };
        let text = lines(page)?;
        let page = download.page().await?;
        Ok::<_, BrokenOff>(Some((text, (download, page))))
    };
    let pages = stream::try_unfold((download, first), next);
    let headers = [
        (CONTENT_TYPE, "application/jsonl"),
        (CONTENT_DISPOSITION, "attachment; filename=\"audit.jsonl\""),
    ];
    let body = Body::from_stream(pages.inspect_err(broke_off));
    let mut response = (headers, body).into_response();
    if let Ok(later) = HeaderValue::from_str(&later) {
        response.headers_mut().insert(AUDIT_AFTER, later);
    }
    Ok(response)
}

/// Where a later download goes on; there is always such a place, so it is no link to a next page.
const AUDIT_AFTER: HeaderName = HeaderName::from_static("audit-after");

/// Whether each chain is as it was written: no entry changed, taken out or put in. What is found of
/// the first fault of a chain is all that is said of it.
#[utoipa::path(
    get, path = "/admin/audit/verify", tag = "Audit",
    responses((status = 200, body = Vec<AuditChainItem>), (status = "default", body = JsonError)),
)]
async fn verify(State(state): State<AppState>, _by: Administrator) -> Result<Response, ApiError> {
    let first = state.store.verify_audit_chain(i64::MIN).await?;
    let next = |(store, report, mark): (Store, Option<_>, &'static str)| async move {
        let Some(report) = report else { return Ok(None) };
        let item = AuditChainItem::from(report);
        let mut text = mark.as_bytes().to_vec();
        serde_json::to_writer(&mut text, &item)?;
        let report = store.verify_audit_chain(item.chain).await?;
        Ok::<_, BrokenOff>(Some((Bytes::from(text), (store, report, ","))))
    };
    let items = stream::try_unfold((state.store.clone(), first, ""), next);
    let mark = |mark: &'static [u8]| stream::iter([Ok(Bytes::from_static(mark))]);
    let body = mark(b"[").chain(items.inspect_err(broke_off)).chain(mark(b"]"));
    // What comes after a fault of the database is not sent: nobody takes a part for the whole.
    Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(body)).into_response())
}

fn lines(page: Vec<StoredAuditEntry>) -> Result<Bytes, serde_json::Error> {
    let mut text = Vec::new();
    for entry in page {
        serde_json::to_writer(&mut text, &AuditItem::from(entry))?;
        text.push(b'\n');
    }
    Ok(text.into())
}

/// Why an answer breaks off.
#[derive(Debug, thiserror::Error)]
enum BrokenOff {
    #[error("the database broke off")]
    Store(#[from] StoreError),
    #[error("an entry can't be written")]
    Json(#[from] serde_json::Error),
}

fn broke_off(error: &BrokenOff) {
    tracing::error!(error = %crate::log::Chain(error), "an answer about the audit broke off");
}

/// Where the caller does not say.
const PER_PAGE: u32 = 100;
