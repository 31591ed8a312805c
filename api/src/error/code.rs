//! The stable codes of errors, and the status that each has.

use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What went wrong, for programs. Stable: a code is never reused for something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The body is not JSON, or not UTF-8.
    MalformedRequest,
    /// A field is missing, of the wrong type, unknown, out of bounds or contradicts another.
    InvalidRequest,
    /// The user belongs to several teams: name one.
    TeamRequired,
    /// The CSR can't be read, or doesn't prove possession of its key.
    BadCsr,
    /// The distinguished name can't be read.
    BadDn,
    /// A subject alternative name can't be read.
    BadSubjectAltName,
    /// No token came with the request.
    TokenMissing,
    /// The token is broken, foreign or ended.
    TokenInvalid,
    /// The token is past its time.
    TokenExpired,
    /// Username or password is wrong.
    BadCredentials,
    /// This needs an administrator.
    NotAdministrator,
    /// The user may not do this.
    NotPermitted,
    /// The user is no member of the team.
    NotAMember,
    /// A team of the user does not let its members come from this address.
    AddressNotAllowed,
    /// The password must be changed first.
    PasswordChangeRequired,
    /// There is no such thing, or the caller may not see it.
    NotFound,
    /// The path has other methods; `Allow` says which.
    MethodNotAllowed,
    /// The body took too long to arrive.
    RequestTimeout,
    /// Another item has this name.
    NameTaken,
    /// The item is in a state that does not allow this.
    WrongState,
    /// Without it nobody could administer the service.
    LastAdministrator,
    /// Some of several items were changed, then one could not be; `dependants` says what is left.
    PartlyDone,
    /// The item is in use; `dependants` says by what.
    InUse,
    /// Something that the request names was deleted, or came into use, while it was worked on.
    ChangedMeanwhile,
    /// The CA can't sign: deleted, offline, expired or without a certificate.
    CaNotLive,
    /// The token holds as many keys as it may.
    KeyLimit,
    /// The certificate is in the system already.
    DuplicateCertificate,
    /// The private key is no longer kept.
    KeyDataGone,
    /// The body is larger than the limit.
    BodyTooLarge,
    /// The body is not declared as JSON.
    UnsupportedMediaType,
    /// A rule of the profile, the issuer or the signer forbids it.
    PolicyViolation,
    /// There is no live Certificate Issuer of this name.
    UnknownIssuer,
    /// There is no team of this name.
    UnknownTeam,
    /// There is no CSR Generator of this name.
    UnknownGenerator,
    /// There is no token of this name.
    UnknownToken,
    /// Something else that the request names does not exist.
    UnknownReference,
    /// The user belongs to no team.
    NoTeam,
    /// Too many requests; `Retry-After` says when to come back.
    Throttled,
    /// The headers are larger than the limit.
    HeadersTooLarge,
    /// The certificate was issued, and its private key was lost by a fault of the service.
    KeyLost,
    /// A fault of the service, written to its log.
    Internal,
    /// The database is not available.
    DatabaseUnavailable,
    /// The signer can't be reached.
    SignerUnavailable,
    /// The signer was asked and did not answer; what it signed appears by itself.
    OutcomeUnknown,
    /// The certificate was signed and its record could not be written; it appears by itself.
    NotRecorded,
    /// The service stops; nothing was done.
    Stopping,
    /// The signer has too much to do.
    SignerBusy,
    /// The signer's journal can't be written.
    JournalUnavailable,
    /// The signer's journal lacks entries; an operator must act.
    JournalBehind,
    /// The signer's clock jumped; it goes on by itself or an operator acts.
    ClockJumped,
    /// The token is away or being brought back.
    TokenUnavailable,
    /// The token refused the PIN; an operator must act.
    TokenPinRefused,
    /// The key is not in the token; an operator must act.
    KeyGone,
}

impl Code {
    /// No wildcard: a new code does not compile until someone decides its status.
    pub fn status(self) -> StatusCode {
        match self {
            Self::MalformedRequest
            | Self::InvalidRequest
            | Self::TeamRequired
            | Self::BadCsr
            | Self::BadDn
            | Self::BadSubjectAltName => StatusCode::BAD_REQUEST,
            Self::TokenMissing | Self::TokenInvalid | Self::TokenExpired | Self::BadCredentials => {
                StatusCode::UNAUTHORIZED
            }
            Self::NotAdministrator
            | Self::NotPermitted
            | Self::NotAMember
            | Self::AddressNotAllowed
            | Self::PasswordChangeRequired => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::RequestTimeout => StatusCode::REQUEST_TIMEOUT,
            Self::NameTaken
            | Self::WrongState
            | Self::LastAdministrator
            | Self::InUse
            | Self::ChangedMeanwhile
            | Self::CaNotLive
            | Self::KeyLimit
            | Self::DuplicateCertificate => StatusCode::CONFLICT,
            Self::KeyDataGone => StatusCode::GONE,
            Self::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::PolicyViolation
            | Self::UnknownIssuer
            | Self::UnknownTeam
            | Self::UnknownGenerator
            | Self::UnknownToken
            | Self::UnknownReference
            | Self::NoTeam => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Throttled => StatusCode::TOO_MANY_REQUESTS,
            Self::HeadersTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            Self::KeyLost | Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::DatabaseUnavailable
            | Self::SignerUnavailable
            | Self::OutcomeUnknown
            | Self::PartlyDone
            | Self::NotRecorded
            | Self::Stopping
            | Self::SignerBusy
            | Self::JournalUnavailable
            | Self::JournalBehind
            | Self::ClockJumped
            | Self::TokenUnavailable
            | Self::TokenPinRefused
            | Self::KeyGone => StatusCode::SERVICE_UNAVAILABLE,
        }
    }
}
