//! The body of every error: one shape, which deployed scripts parse.

use axum::Json;
use axum::http::StatusCode;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use chancery_shared::id::CertificateId;
use serde::Serialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

use super::Code;
use crate::timestamp;

/// What an error says, before path and request id are known. Travels in the response's extensions.
#[derive(Clone, Debug)]
pub struct ErrorBody {
    /// What, for programs.
    pub code: Code,
    /// What, for people.
    pub message: String,
    /// The fields at fault.
    pub fields: Vec<FieldError>,
    /// What stands in the way.
    pub dependants: Vec<Dependant>,
    /// The certificate that is meant.
    pub certificate_id: Option<CertificateId>,
}

impl ErrorBody {
    /// With nothing but code and words.
    pub(super) fn new(code: Code, message: String) -> Self {
        Self { code, message, fields: Vec::new(), dependants: Vec::new(), certificate_id: None }
    }
}

/// In the extensions of an error response whose body is to stay as it is.
#[derive(Clone, Copy, Debug)]
pub struct OwnBody;

/// One field at fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct FieldError {
    /// Its name in the request.
    pub field: String,
    /// What is wrong with it, and what would pass.
    pub message: String,
}

/// One thing that stands in the way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Dependant {
    /// Its kind as in the path, such as `localca`.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
}

/// The body of every error.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Error)]
pub(crate) struct JsonError {
    timestamp: String,
    status: u16,
    error: &'static str,
    message: String,
    path: String,
    code: Code,
    request_id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<FieldError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    dependants: Vec<Dependant>,
    /// Of a duplicate: the certificate that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    cert_id: Option<String>,
}

/// Writes the body of an error response; leaves every other response alone. An error that did not
/// come from [`super::ApiError`] gets the shape too: no client sees an empty or foreign body.
pub fn complete(response: Response, path: &str, request_id: &str, now: OffsetDateTime) -> Response {
    let status = response.status();
    let is_error = status.is_client_error() || status.is_server_error();
    if !is_error || response.extensions().get::<OwnBody>().is_some() {
        return response;
    }
    let (mut parts, _) = response.into_parts();
    let body = parts.extensions.remove::<ErrorBody>().unwrap_or_else(|| foreign(status));
    let error = JsonError {
        timestamp: timestamp::with_offset(now),
        status: status.as_u16(),
        error: status.canonical_reason().unwrap_or("Error"),
        message: body.message,
        path: path.to_owned(),
        code: body.code,
        request_id: request_id.to_owned(),
        fields: body.fields,
        dependants: body.dependants,
        cert_id: body.certificate_id.map(|id| id.to_string()),
    };
    parts.headers.remove(CONTENT_TYPE);
    parts.headers.remove(CONTENT_LENGTH);
    let mut response = (status, Json(error)).into_response();
    response.extensions_mut().insert(body.code);
    for (name, value) in &parts.headers {
        response.headers_mut().append(name, value.clone());
    }
    response
}

/// The words for a status that a layer or the framework answered.
fn foreign(status: StatusCode) -> ErrorBody {
    let (code, message) = match status {
        StatusCode::NOT_FOUND => (Code::NotFound, "there is nothing at this path"),
        StatusCode::METHOD_NOT_ALLOWED => {
            (Code::MethodNotAllowed, "this path does not offer this method; see the Allow header")
        }
        StatusCode::REQUEST_TIMEOUT => (Code::RequestTimeout, "the request took too long"),
        StatusCode::PAYLOAD_TOO_LARGE => (Code::BodyTooLarge, "the body is too large"),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => {
            (Code::UnsupportedMediaType, "the body must be declared as application/json")
        }
        status if status.is_client_error() => {
            (Code::InvalidRequest, "the request can't be understood")
        }
        _ => (Code::Internal, super::INTERNAL),
    };
    ErrorBody::new(code, message.to_owned())
}
