//! `GET /certs/{id}/cer` and its like: a certificate, its chain and its request as files.

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse as _, Response};
use chancery_shared::id::{CertificateId, kind};
use serde::Deserialize;

use super::seen;
use crate::app::AppState;
use crate::auth::Actor;
use crate::certificate::RecordedFacts;
use crate::error::{ApiError, Code, JsonError};
use crate::inventory::ca_chain;
use crate::inventory::view::Look;
use crate::json::empty_is_absent;
use crate::packaging::{file_name, pem, pkcs7};
use crate::request::{PathId, Query};
use crate::store::certificate::Certificate;

/// The certificate as DER.
#[utoipa::path(
    get, path = "/certs/{id}/cer", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "application/pkix-cert", body = [u8]),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn cer(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
) -> Result<Response, ApiError> {
    let row = seen(&state, &actor, look, id).await?.certificate;
    file(&row, "cer", "application/pkix-cert", row.der.clone())
}

/// The certificate as PEM.
#[utoipa::path(
    get, path = "/certs/{id}/pemcert", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "application/x-pem-file", body = String),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn pem_cert(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
) -> Result<Response, ApiError> {
    let row = seen(&state, &actor, look, id).await?.certificate;
    file(&row, "pem", PEM, pem::certificate(&row.der).into_bytes())
}

/// The certificate and those of the CAs above it, up to the root, as PEM; as far as they are known.
#[utoipa::path(
    get, path = "/certs/{id}/chain", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "application/pem-certificate-chain", body = String),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn chain(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
) -> Result<Response, ApiError> {
    let chain = whole_chain(&state, &actor, look, id).await?;
    let text: String = chain.iter().map(|row| pem::certificate(&row.der)).collect();
    let leaf = chain.first().ok_or_else(|| ApiError::not_found("certificate"))?;
    file(leaf, "chain.pem", "application/pem-certificate-chain", text.into_bytes())
}

/// The parameters of a PKCS #7 download.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Form {
    #[serde(deserialize_with = "empty_is_absent")]
    form: Option<String>,
}

/// The same certificates as PKCS #7: PEM, or DER with `?form=der`.
#[utoipa::path(
    get, path = "/certs/{id}/p7b", tag = "Certificates",
    params(("id" = String, Path), ("form" = Option<String>, Query, description = "pem or der")),
    responses(
        (status = 200, content_type = "application/x-pkcs7-certificates", body = [u8]),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn p7b(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
    Query(Form { form }): Query<Form>,
) -> Result<Response, ApiError> {
    let is_pem = match form.as_deref() {
        None | Some("pem") => true,
        Some("der") => false,
        Some(_) => return Err(ApiError::invalid_field("form", "must be pem or der")),
    };
    let chain = whole_chain(&state, &actor, look, id).await?;
    let certificates: Vec<&[u8]> = chain.iter().map(|row| row.der.as_slice()).collect();
    let der = pkcs7::certificates(&certificates).map_err(ApiError::internal)?;
    let bytes = if is_pem { pem::pkcs7(&der).into_bytes() } else { der };
    let leaf = chain.first().ok_or_else(|| ApiError::not_found("certificate"))?;
    file(leaf, "p7b", "application/x-pkcs7-certificates", bytes)
}

/// The request that the certificate was made for, as PEM.
#[utoipa::path(
    get, path = "/certs/{id}/csr", tag = "Certificates", params(("id" = String, Path)),
    responses(
        (status = 200, content_type = "application/x-pem-file", body = String),
        (status = "default", body = JsonError),
    ),
)]
pub(super) async fn csr(
    State(state): State<AppState>,
    actor: Actor,
    look: Look,
    PathId(id): PathId<kind::Certificate>,
) -> Result<Response, ApiError> {
    let row = seen(&state, &actor, look, id).await?.certificate;
    let der = match row.csr_id {
        Some(csr_id) => state.store.csr(csr_id).await?,
        None => None,
    };
    let der = der.ok_or_else(|| {
        let message = "no CSR is known for this certificate: its key was made in the token, or it \
                       was imported without one";
        ApiError::refused(Code::NotFound, message)
    })?;
    file(&row, "csr", PEM, pem::request(&der).into_bytes())
}

const PEM: &str = "application/x-pem-file";

/// Who sees the first sees all: the others are CAs.
async fn whole_chain(
    state: &AppState,
    actor: &Actor,
    look: Look,
    id: CertificateId,
) -> Result<Vec<Certificate>, ApiError> {
    seen(state, actor, look, id).await?;
    let chain = ca_chain::from(state, id).await?;
    if chain.is_empty() { Err(ApiError::not_found("certificate")) } else { Ok(chain) }
}

/// A download that no browser takes for anything else than it is.
pub(super) fn file(
    row: &Certificate,
    extension: &str,
    content_type: &'static str,
    bytes: Vec<u8>,
) -> Result<Response, ApiError> {
    let facts = RecordedFacts::read(&row.der).map_err(ApiError::internal)?;
    let disposition = file_name::attachment(&facts.common_name, extension);
    let disposition = HeaderValue::from_str(&disposition).map_err(ApiError::internal)?;
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CONTENT_DISPOSITION, disposition);
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}
