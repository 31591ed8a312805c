//! Why nothing was issued, in the words of HTTP.

use super::{ApiError, Code};
use crate::issuance::context::ContextError;
use crate::issuance::csr_request::CsrRequestError;
use crate::issuance::issue_error::IssueError;
use crate::issuance::signing::SigningError;
use crate::issuance::subject_key::SubjectKeyError;
use crate::issuance::tbs::DraftError;
use crate::key_pair::MakeError;

/// No wildcard, here and below: a new reason does not compile until someone decides its code.
impl From<IssueError> for ApiError {
    fn from(error: IssueError) -> Self {
        match error {
            IssueError::CsrText(problem) => {
                ApiError::refused_field(Code::BadCsr, "csr", problem.to_string())
            }
            IssueError::Csr(problem) => {
                ApiError::refused_field(csr(&problem), "csr", problem.to_string())
            }
            IssueError::ReversedSubject(_) => {
                ApiError::refused_field(Code::InvalidRequest, "reverseCsrDn", error.to_string())
            }
            IssueError::SubjectAltName { .. } => ApiError::refused_field(
                Code::BadSubjectAltName,
                "subjectAltNames",
                error.to_string(),
            ),
            IssueError::Dn(problem) => {
                ApiError::refused_field(Code::BadDn, "dn", format!("dn: {problem}"))
            }
            IssueError::CommonNameAsName(_) => {
                ApiError::refused_field(Code::InvalidRequest, "addCnAsDnsSan", error.to_string())
            }
            IssueError::Key(MakeError::Busy) => ApiError::refused(
                Code::Throttled,
                "too many keys are being made; send the request again in a few seconds",
            ),
            IssueError::Key(MakeError::Stopping) => ApiError::refused(
                Code::Stopping,
                "the service is stopping; send the same request again in a few seconds",
            ),
            IssueError::Key(cause @ (MakeError::Crypto(_) | MakeError::CutOff(_))) => {
                Self::internal(cause)
            }
            IssueError::OwnCsr(cause) => Self::internal(cause),
            IssueError::KeyLost { certificate_id, source } => {
                Self::KeyLost { certificate_id, source: Box::new(source) }
            }
            IssueError::Extra(problem) => {
                ApiError::refused_field(Code::InvalidRequest, problem.field(), problem.to_string())
            }
            IssueError::Profile(violation) => {
                let rule = violation.rule();
                Self::refused(Code::PolicyViolation, format!("{violation} (rule {rule})"))
            }
            IssueError::Context(ContextError::TooLarge) => {
                Self::refused(Code::InvalidRequest, error.to_string())
            }
            IssueError::Context(cause @ ContextError::Malformed(_)) => Self::internal(cause),
            IssueError::Signing(SigningError::Draft(problem)) => draft(problem),
            IssueError::Signing(SigningError::Signer(error)) => Self::Signer(error),
            IssueError::Signing(SigningError::NoLongerPermitted(refused)) => *refused,
            IssueError::NotACertificate(cause) => Self::internal(cause),
            IssueError::NotRecorded { certificate_id, source } => {
                Self::NotRecorded { certificate_id, source }
            }
        }
    }
}

fn csr(problem: &CsrRequestError) -> Code {
    match problem {
        CsrRequestError::Csr(_)
        | CsrRequestError::Subject(_)
        | CsrRequestError::Possession(_)
        | CsrRequestError::Extensions(_)
        | CsrRequestError::Key(
            SubjectKeyError::Malformed | SubjectKeyError::Point | SubjectKeyError::RsaEven,
        ) => Code::BadCsr,
        CsrRequestError::WeakSignature(_)
        | CsrRequestError::Key(
            SubjectKeyError::Algorithm(_)
            | SubjectKeyError::Curve(_)
            | SubjectKeyError::RsaSize(_)
            | SubjectKeyError::RsaExponent
            | SubjectKeyError::Known
            | SubjectKeyError::Weak(_),
        ) => Code::PolicyViolation,
    }
}

fn draft(problem: DraftError) -> ApiError {
    let violation =
        |rule| ApiError::refused(Code::PolicyViolation, format!("{problem} (rule {rule})"));
    match problem {
        DraftError::CaExpired => ApiError::refused(Code::CaNotLive, problem.to_string()),
        DraftError::Validity => violation("lifetimeInMinutes"),
        DraftError::NoKeyUsage => violation("keyUsages"),
        DraftError::TooLarge => {
            ApiError::refused_field(Code::InvalidRequest, "subjectAltNames", problem.to_string())
        }
        DraftError::NotDer(_) => ApiError::internal(problem),
    }
}
