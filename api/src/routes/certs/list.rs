//! `GET /certs`: all certificates or those that filters hold for, streamed, or a page of them.

use axum::body::{Body, Bytes};
use axum::extract::{OriginalUri, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures::stream::{self, StreamExt as _};

use super::super::json::certificate::CertificateRecord;
use super::super::json::certificate_search::CertificateSearch;
use super::super::record::AsOf;
use super::filters::{self, Checked};
use super::search::{self, Page};
use crate::app::AppState;
use crate::auth::Actor;
use crate::certificate::fields::NotACertificate;
use crate::error::{ApiError, JsonError};
use crate::inventory::view::Look;
use crate::records::visibility::Sight;
use crate::request::Query;
use crate::routes::paging::without_after;
use crate::store::StoreError;
use crate::store::certificate::StoredCertificate;
use crate::store::certificate::search::{RecordNo, Search};

/// All certificates, or those that every given filter holds for, in the order of recording. Without
/// `limit` or `certsPerPage` all of them come in one answer. With it, a `Link` header with
/// `rel="next"` says where the next page is, while there is one.
#[utoipa::path(
    get, path = "/certs", tag = "Certificates", params(CertificateSearch),
    responses(
        (status = 200, body = Vec<CertificateRecord>), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn list(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    OriginalUri(uri): OriginalUri,
    Query(asked): Query<CertificateSearch>,
) -> Result<Response, ApiError> {
    let inventory = look.again(&state.inventory, &state.store).await?;
    let sight = Sight::of(&inventory, &actor).await?;
    let as_of = AsOf::now(&state, &inventory).await?;
    let Checked { search, after, limit } = filters::check(&state, sight, &asked).await?;
    match (search, limit) {
        (None, _) => Ok(Page::default().answer("")),
        (Some(search), Some(limit)) => {
            let page = search::page(&state, &search, after, limit, as_of).await?;
            Ok(page.answer(&without_after(&uri)))
        }
        (Some(search), None) => all(&state, search, after, as_of).await,
    }
}

/// Takes the same memory for any number: what the client has not read is not in it.
async fn all(
    state: &AppState,
    search: Search,
    after: Option<RecordNo>,
    as_of: AsOf,
) -> Result<Response, ApiError> {
    let mut rows = state.store.certificates(search, after).fuse();
    // Read before the status goes out, so that a database that is away is told as such.
    let first = rows.next().await.transpose()?;
    let rows = stream::iter(first.map(Ok)).chain(rows);
    let items = rows.enumerate().map(move |(index, row)| {
        item(index, row, as_of).inspect_err(|error| {
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
    as_of: AsOf,
) -> Result<Bytes, BrokenOff> {
    let record = CertificateRecord::new(&row?, as_of)?;
    let mut text = if index == 0 { Vec::new() } else { vec![b','] };
    serde_json::to_writer(&mut text, &record)?;
    Ok(text.into())
}
