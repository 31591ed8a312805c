//! Errors as clients see them: the one place where failures become responses.

mod body;
mod code;
mod issue;
mod signer;

#[cfg(test)]
mod tests;

use std::time::Duration;

use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use chancery_shared::id::CertificateId;

pub(crate) use body::JsonError;
pub use body::{Dependant, ErrorBody, FieldError, OwnBody, complete};
pub use code::Code;

use crate::auth::bearer::BearerError;
use crate::auth::password::PasswordError;
use crate::signer_client::SignerError;
use crate::store::StoreError;

/// A failed request.
#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    /// Refused for a reason that an area has put into words already.
    #[error("{}", .0.message)]
    Refused(Box<Refused>),
    /// The request has no usable token.
    #[error(transparent)]
    Bearer(#[from] BearerError),
    /// A password was neither hashed nor checked.
    #[error("the password was not checked")]
    Password(#[from] PasswordError),
    /// Too many failures from one address.
    #[error("too many failed logins came from this address; come back in {} s", .0.as_secs().max(1))]
    Throttled(Duration),
    /// The signer did not do it.
    #[error("the signer did not do it")]
    Signer(#[from] SignerError),
    /// A kept private key stays closed, because the signer did not open the key above it.
    #[error("the kept private key was not opened")]
    KeyClosed(#[source] SignerError),
    /// The database did not do it.
    #[error("the database did not do it")]
    Store(#[from] StoreError),
    /// A certificate was signed, and the database would not take its record.
    #[error("the certificate {certificate_id} was signed but not recorded")]
    NotRecorded {
        /// The id that reconciliation will record it under.
        certificate_id: CertificateId,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A certificate was signed and recorded, and its private key was lost.
    #[error("the private key of the certificate {certificate_id} was lost")]
    KeyLost {
        /// The record's id.
        certificate_id: CertificateId,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A fault of ours, or something that can't happen.
    #[error("internal error")]
    Internal(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// What a client is told about a refusal.
#[derive(Debug)]
pub struct Refused {
    /// What, for programs.
    pub code: Code,
    /// One sentence: what was refused, why, and what would pass.
    pub message: String,
    /// The fields at fault.
    pub fields: Vec<FieldError>,
    /// What stands in the way.
    pub dependants: Vec<Dependant>,
    /// The certificate that is meant.
    pub certificate_id: Option<CertificateId>,
}

impl ApiError {
    /// A refusal in words.
    pub fn refused(code: Code, message: impl Into<String>) -> Self {
        Self::Refused(Box::new(Refused {
            code,
            message: message.into(),
            fields: Vec::new(),
            dependants: Vec::new(),
            certificate_id: None,
        }))
    }

    /// 400: these fields are wrong.
    pub fn invalid(fields: Vec<FieldError>) -> Self {
        Self::refused_fields(Code::InvalidRequest, fields)
    }

    /// A refusal because of several fields.
    pub fn refused_fields(code: Code, fields: Vec<FieldError>) -> Self {
        let sentences: Vec<_> =
            fields.iter().map(|field| format!("{}: {}", field.field, field.message)).collect();
        Self::refused(code, sentences.join("; ")).with_fields(fields)
    }

    /// 400: this one field is wrong.
    pub fn invalid_field(field: &str, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError { field: field.to_owned(), message: message.into() }])
    }

    /// A refusal because of one field.
    pub fn refused_field(code: Code, field: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let fields = vec![FieldError { field: field.to_owned(), message: message.clone() }];
        Self::refused(code, message).with_fields(fields)
    }

    /// 404: there is no such `kind`, such as `team`.
    pub fn not_found(kind: &str) -> Self {
        Self::refused(Code::NotFound, format!("there is no such {kind}"))
    }

    /// 500: `cause` goes to the log, never to the client.
    pub fn internal(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Internal(cause.into())
    }

    /// The same, naming the fields at fault.
    #[must_use]
    pub fn with_fields(mut self, fields: Vec<FieldError>) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.fields = fields;
        }
        self
    }

    /// The same, naming what stands in the way.
    #[must_use]
    pub fn with_dependants(mut self, dependants: Vec<Dependant>) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.dependants = dependants;
        }
        self
    }

    /// The same, naming the certificate that is meant.
    #[must_use]
    pub fn with_certificate(mut self, id: CertificateId) -> Self {
        if let Self::Refused(refused) = &mut self {
            refused.certificate_id = Some(id);
        }
        self
    }

    /// The stable code, which decides the status.
    pub fn code(&self) -> Code {
        match self {
            Self::Refused(refused) => refused.code,
            Self::Bearer(BearerError::Missing) => Code::TokenMissing,
            Self::Bearer(BearerError::Invalid) => Code::TokenInvalid,
            Self::Bearer(BearerError::Expired) => Code::TokenExpired,
            Self::Throttled(_) | Self::Password(PasswordError::Busy | PasswordError::CutOff) => {
                Code::Throttled
            }
            Self::Signer(error) => signer::code(error),
            Self::KeyClosed(error) => signer::code_of_reading(error),
            Self::NotRecorded { .. } => Code::NotRecorded,
            Self::KeyLost { .. } => Code::KeyLost,
            Self::Store(StoreError::Unavailable { .. } | StoreError::Closed) => {
                Code::DatabaseUnavailable
            }
            Self::Store(StoreError::Taken { .. }) => Code::NameTaken,
            Self::Store(StoreError::Reference { .. }) => Code::ChangedMeanwhile,
            Self::Store(
                StoreError::Open(_)
                | StoreError::Migrate(_)
                | StoreError::NoTrigrams(_)
                | StoreError::NoSchema(_)
                | StoreError::OtherSchema
                | StoreError::Statement { .. }
                | StoreError::Unreadable { .. },
            )
            | Self::Password(PasswordError::Hash(_))
            | Self::Internal(_) => Code::Internal,
        }
    }

    /// What the client reads; never a cause.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Refused(refused) => refused.message.clone(),
            Self::Bearer(error) => error.to_string(),
            Self::Throttled(_) => self.to_string(),
            Self::Password(PasswordError::Busy | PasswordError::CutOff) => {
                "too many logins at once; send the same request again in a moment".to_owned()
            }
            Self::Signer(error) => signer::message(error),
            Self::KeyClosed(error) => signer::message_of_reading(error),
            Self::Store(StoreError::Unavailable { .. } | StoreError::Closed) => {
                "the database is not available; the same request may be sent again".to_owned()
            }
            Self::Store(StoreError::Taken { .. }) => {
                "an item with this name exists; choose another name".to_owned()
            }
            Self::Store(StoreError::Reference { .. }) => {
                "something that this request names was deleted meanwhile, or something came to use \
                 it; nothing was changed: look again, and send what fits then"
                    .to_owned()
            }
            Self::NotRecorded { certificate_id, .. } => format!(
                "the certificate was issued but could not be recorded yet; it appears by itself \
                 within minutes under the id {certificate_id}, so look before you ask again"
            ),
            Self::KeyLost { certificate_id, .. } => format!(
                "the certificate was issued under the id {certificate_id}, but its private key was \
                 lost before it could be packed; ask for a new certificate"
            ),
            Self::Password(PasswordError::Hash(_)) | Self::Store(_) | Self::Internal(_) => {
                INTERNAL.to_owned()
            }
        }
    }

    fn retry_after(&self, status: StatusCode) -> Option<Duration> {
        let said = match self {
            Self::Signer(error) | Self::KeyClosed(error) => signer::retry_after(error),
            Self::Password(_) => Some(Duration::from_secs(1)),
            Self::Throttled(wait) => Some(*wait),
            Self::Refused(_)
            | Self::Bearer(_)
            | Self::Store(_)
            | Self::NotRecorded { .. }
            | Self::KeyLost { .. }
            | Self::Internal(_) => None,
        };
        // What may have been issued must not be asked for again by a client that retries by itself.
        if matches!(self.code(), Code::OutcomeUnknown | Code::NotRecorded) {
            return None;
        }
        let comes_back =
            matches!(status, StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS);
        said.or_else(|| comes_back.then_some(RETRY_AFTER_DEFAULT))
    }
}

impl IntoResponse for ApiError {
    /// The response without its body: [`complete`] writes that, once it knows path and request id.
    fn into_response(self) -> Response {
        let code = self.code();
        let status = code.status();
        if status.is_server_error() {
            // Logged here and nowhere below. The cause goes to the log, never to the client.
            tracing::error!(?code, error = %crate::log::Chain(&self), "request failed");
        }
        let mut response = status.into_response();
        let headers = response.headers_mut();
        if let Some(wait) = self.retry_after(status) {
            let seconds = wait.as_millis().div_ceil(1000).max(1);
            if let Ok(seconds) = HeaderValue::from_str(&seconds.to_string()) {
                headers.insert(RETRY_AFTER, seconds);
            }
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let message = self.message();
        let body = match self {
            Self::NotRecorded { certificate_id, .. } | Self::KeyLost { certificate_id, .. } => {
                ErrorBody { certificate_id: Some(certificate_id), ..ErrorBody::new(code, message) }
            }
            Self::Refused(refused) => ErrorBody {
                fields: refused.fields,
                dependants: refused.dependants,
                certificate_id: refused.certificate_id,
                ..ErrorBody::new(code, message)
            },
            _ => ErrorBody::new(code, message),
        };
        response.extensions_mut().insert(body);
        response
    }
}

/// What a client is told about a fault of ours.
const INTERNAL: &str = "internal error; the log has the details under this request id";

const RETRY_AFTER_DEFAULT: Duration = Duration::from_secs(5);
