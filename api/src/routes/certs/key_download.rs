//! `GET /certs/{id}/p12`, `/jks` and `/pem`: a private key that is still kept, for its owner alone.

use axum::extract::State;
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_shared::id::{CertificateId, kind};

use super::download::file;
use super::seen;
use crate::app::AppState;
use crate::auth::Actor;
use crate::certificate::history::HistoryEvent;
use crate::error::{ApiError, Code, JsonError};
use crate::inventory::view::Look;
use crate::key_data::Form;
use crate::request::PathId;
use crate::settings::Settings;
use crate::store::certificate::{Certificate, HistoryEntry};
use crate::store::key_data::KeyData;

/// Certificate, chain and private key as PKCS #12: base64 text, or the bytes with
/// `Accept: application/octet-stream`. The password of the request opens it.
#[utoipa::path(
    get, path = "/certs/{id}/p12", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "text/plain", body = String),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn p12(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (row, bytes) = kept(&state, &actor, look, id, &method, Form::P12).await?;
    answer(&row, "p12", bytes, &headers)
}

/// The same as JKS, the old key store of Java.
#[utoipa::path(
    get, path = "/certs/{id}/jks", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "text/plain", body = String),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn jks(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let (row, bytes) = kept(&state, &actor, look, id, &method, Form::Jks).await?;
    answer(&row, "jks", bytes, &headers)
}

/// The same as PEM: certificate, chain and encrypted private key.
#[utoipa::path(
    get, path = "/certs/{id}/pem", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "application/x-pem-file", body = String),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn pem(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
    method: Method,
) -> Result<Response, ApiError> {
    let (row, bytes) = kept(&state, &actor, look, id, &method, Form::Pem).await?;
    file(&row, "key.pem", "application/x-pem-file", bytes).map(unstored)
}

/// Bare base64 is what deployed clients decode, whatever they say that they accept.
fn answer(
    row: &Certificate,
    extension: &str,
    bytes: Vec<u8>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    const OCTETS: &str = "application/octet-stream";
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut kinds = accepted.flat_map(|value| value.split(','));
    let wants_octets = kinds.any(|kind| {
        let mut parts = kind.split(';').map(str::trim);
        parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case(OCTETS)) && !parts.any(is_refused)
    });
    if wants_octets {
        return file(row, extension, OCTETS, bytes).map(unstored);
    }
    let mut response = STANDARD.encode(bytes).into_response();
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    Ok(unstored(response))
}

/// `q=0`: everything but this (RFC 9110, section 12.4.2).
fn is_refused(parameter: &str) -> bool {
    let weight = parameter.strip_prefix(['q', 'Q']).and_then(|rest| rest.strip_prefix('='));
    weight.and_then(|weight| weight.parse::<f32>().ok()).is_some_and(|weight| weight <= 0.0)
}

fn unstored(mut response: Response) -> Response {
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The package, and a word of it in the history.
async fn kept(
    state: &AppState,
    actor: &Actor,
    look: Look,
    id: CertificateId,
    method: &Method,
    form: Form,
) -> Result<(Certificate, Vec<u8>), ApiError> {
    let row = seen(state, actor, look, id).await?.certificate;
    if row.owner_user_id != actor.user_id() {
        let message = format!(
            "only the owner may download the private key; that is {}, who may give the \
             certificate to you",
            row.owner_username
        );
        return Err(ApiError::refused(Code::NotPermitted, message));
    }
    let data = state.store.key_data(id).await?;
    let retention = Settings::read(&state.store).await?.retention;
    let is_kept = |kept: &KeyData| !retention.is_over(kept.kept_at, state.clock.now());
    let data = data.filter(is_kept).ok_or_else(gone)?;
    let key = state.vault.key(state, data.data_key_id).await.map_err(|error| match error {
        ApiError::Signer(error) => ApiError::KeyClosed(error),
        other => other,
    })?;
    let sealed = match form {
        Form::P12 => &data.p12,
        Form::Jks => &data.jks,
        Form::Pem => &data.pem,
    };
    let bytes = key.open(id, form, sealed).map_err(ApiError::internal)?;
    if method == Method::HEAD {
        // Nothing of it leaves.
        return Ok((row, bytes));
    }
    let user = actor.username();
    let entry = HistoryEntry {
        id: state.new_id(),
        happened_at: state.clock.now(),
        event: HistoryEvent::Downloaded,
        details: format!("User {user} downloaded the private key as {}", form.name()),
    };
    let mut write = state.store.begin().await?;
    write.insert_history(id, &entry).await?;
    let told = state.audited("download key", "certs").on(&id, &row.subject_dn);
    let told = told.after(serde_json::json!({"form": form.name()}));
    write.commit_beside_inventory(told).await?;
    Ok((row, bytes))
}

fn gone() -> ApiError {
    let message = "the private key of this certificate is not kept: it was made elsewhere, or the \
                   Private Key Retention Period is over; ask for a new certificate";
    ApiError::refused(Code::KeyDataGone, message)
}
