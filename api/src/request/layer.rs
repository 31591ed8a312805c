//! The outermost layer: gives the request its id, logs and counts it, completes its errors, and tells
//! the audit of what no write tells.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CONNECTION;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Version};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use chancery_shared::id::CertificateId;
use tracing::Instrument as _;

use super::RequestId;
use super::id::HEADER;
use super::unread::lend;
use crate::app::AppState;
use crate::audit::{self, Operation, Origin};
use crate::auth::client_address::ClientAddress;
use crate::error::{self, ApiError, Code};

/// What the line of a request says of the certificate that it issued.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its record.
    pub certificate_id: CertificateId,
    /// Who asked.
    pub user: String,
    /// For which team.
    pub team: String,
    /// Which Certificate Issuer.
    pub issuer: String,
}

/// Surrounds every route and every miss.
pub async fn surround(State(state): State<AppState>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let id =
        RequestId::of_caller(request.headers()).unwrap_or_else(|| RequestId::new(state.new_id()));
    let method = request.method().clone();
    let version = request.version();
    // Without the query, where old clients may put secrets.
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>().map(|route| route.as_str().to_owned());
    request.extensions_mut().insert(id.clone());
    let operation = Operation::new(&method, route.as_deref(), &path);
    let trusted = &state.config.trusted_proxies;
    let address = ClientAddress::of(request.extensions(), request.headers(), trusted);
    let address = address.0.map(|address| address.to_string());
    let origin = Arc::new(Origin::new(id.clone(), address, operation));

    let span = tracing::info_span!("request", request_id = id.as_str(), %method, path);
    let response = async {
        let (parts, body) = request.into_parts();
        let (body, unread) = lend(body);
        let response = match check_headers(&parts.headers) {
            Ok(()) => next.run(Request::from_parts(parts, body)).await,
            Err(error) => {
                drop(body);
                error.into_response()
            }
        };
        (response, unread)
    };
    let response = audit::within(Arc::clone(&origin), response.instrument(span.clone()));
    let (response, unread) = response.await;

    let mut response = error::complete(response, &path, id.as_str(), state.clock.now());
    let status = response.status();
    state.audit.answered(&origin, state.clock.now(), response.extensions().get().copied());
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
    if status == StatusCode::REQUEST_TIMEOUT && version < Version::HTTP_2 {
        // The rest of the body may still come: nothing else can follow on this connection.
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    let elapsed = started.elapsed();
    let route = route.unwrap_or_else(|| "unmatched".to_owned());
    let labels =
        [("method", method.to_string()), ("route", route), ("status", status.as_u16().to_string())];
    metrics::counter!("chancery_http_requests_total", &labels).increment(1);
    metrics::histogram!("chancery_http_request_duration_seconds", &labels)
        .record(elapsed.as_secs_f64());
    let told = response.extensions().get::<Told>();
    span.in_scope(|| {
        tracing::info!(
            status = status.as_u16(),
            ms = elapsed.as_secs_f64() * 1000.0,
            certificate.id = told.map(|told| tracing::field::display(told.certificate_id)),
            user = told.map(|told| told.user.as_str()),
            team = told.map(|told| told.team.as_str()),
            issuer = told.map(|told| told.issuer.as_str()),
            "answered"
        );
    });
    // Last, since a client that goes away takes this with it; of what came too slowly, more is not
    // waited for.
    if let Some(unread) = unread
        && status != StatusCode::REQUEST_TIMEOUT
    {
        unread.pass_over().await;
    }
    response
}

fn check_headers(headers: &HeaderMap) -> Result<(), ApiError> {
    let bytes: usize = headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if bytes <= MAX_HEADER_BYTES && headers.len() <= MAX_HEADERS {
        return Ok(());
    }
    Err(ApiError::refused(
        Code::HeadersTooLarge,
        format!(
            "the headers are more than {MAX_HEADERS} or larger than {MAX_HEADER_BYTES} bytes; send \
             fewer or shorter ones"
        ),
    ))
}

const MAX_HEADER_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 128;
