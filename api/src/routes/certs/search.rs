//! `POST /certs/search`: a page of the certificates that filters hold for.

use std::time::Duration;

use axum::extract::{OriginalUri, State};
use axum::http::HeaderValue;
use axum::http::header::LINK;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::Value;

use super::super::json::certificate::CertificateRecord;
use super::super::json::certificate_search::CertificateSearch;
use super::super::record::AsOf;
use super::filters::{self, Checked};
use crate::app::AppState;
use crate::auth::Actor;
use crate::error::{ApiError, JsonError};
use crate::inventory::view::Look;
use crate::json::{Json, empty_is_absent};
use crate::records::visibility::Sight;
use crate::request::Query;
use crate::store::certificate::search::{Found, RecordNo, Search};

/// The parameters of a search.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Parameters {
    #[serde(deserialize_with = "empty_is_absent")]
    after: Option<String>,
}

/// The certificates that every given filter holds for, in the order of recording. A `Link` header
/// with `rel="next"` says where the same body gets the next page, while there may be one: a search
/// that takes too long answers what it has found so far.
#[utoipa::path(
    post, path = "/certs/search", tag = "Certificates", request_body = CertificateSearch,
    params(("after" = Option<String>, Query, description = "goes before the one in the body")),
    responses(
        (status = 200, body = Vec<CertificateRecord>), (status = "default", body = JsonError),
    ),
)]
pub(super) async fn search(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    OriginalUri(uri): OriginalUri,
    Query(parameters): Query<Parameters>,
    Json(mut asked): Json<CertificateSearch>,
) -> Result<Response, ApiError> {
    asked.after = parameters.after.map(Value::String).or(asked.after);
    let inventory = look.again(&state.inventory, &state.store).await?;
    let sight = Sight::of(&inventory, &actor).await?;
    let as_of = AsOf::now(&state, &inventory).await?;
    let Checked { search, after, limit } = filters::check(&state, sight, &asked).await?;
    let Some(search) = search else { return Ok(Page::default().answer("")) };
    let page = page(&state, &search, after, limit.unwrap_or(PER_PAGE), as_of).await?;
    Ok(page.answer(&format!("{}?", uri.path())))
}

/// Records, and where there may be more.
#[derive(Debug, Default)]
pub(super) struct Page {
    records: Vec<CertificateRecord>,
    next: Option<RecordNo>,
}

impl Page {
    /// The answer; the next page is at `address` with `after=…` behind it.
    pub(super) fn answer(self, address: &str) -> Response {
        let mut response = Json(self.records).into_response();
        let link = self.next.map(|next| format!("<{address}after={next}>; rel=\"next\""));
        // An address that came in can go out.
        if let Some(link) = link.and_then(|link| HeaderValue::from_str(&link).ok()) {
            response.headers_mut().insert(LINK, link);
        }
        response
    }
}

/// A page of the wanted certificates.
pub(super) async fn page(
    state: &AppState,
    search: &Search,
    after: Option<RecordNo>,
    limit: u32,
    as_of: AsOf,
) -> Result<Page, ApiError> {
    let found = if search.is_empty() {
        state.store.certificates_after(after, limit).await?
    } else {
        state.store.search_certificates(search, after, limit, PATIENCE).await?
    };
    let Found { certificates, next } = found;
    let records = certificates.iter().map(|stored| CertificateRecord::new(stored, as_of));
    let records = records.collect::<Result<_, _>>().map_err(ApiError::internal)?;
    Ok(Page { records, next })
}

/// Where the caller does not say.
const PER_PAGE: u32 = 100;
/// So long one request may look.
const PATIENCE: Duration = Duration::from_secs(2);
