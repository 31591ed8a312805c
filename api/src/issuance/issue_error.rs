//! Why a request ended without a certificate, or without its record.

use chancery_shared::id::CertificateId;

use super::context::ContextError;
use super::csr_request::CsrRequestError;
use super::csr_text::CsrTextError;
use super::extra::ExtraProblem;
use super::signing::SigningError;
use crate::certificate::fields::NotACertificate;
use crate::inventory::profile_names::ProfileViolation;
use crate::name::NameProblem;
use crate::name::subject_alt_name::SubjectAltNameProblem;

/// Why there is no answer. Up to [`IssueError::Signing`] nothing was issued.
#[derive(Debug, thiserror::Error)]
pub enum IssueError {
    /// The text holds no request.
    #[error(transparent)]
    CsrText(CsrTextError),
    /// The request is not accepted.
    #[error(transparent)]
    Csr(CsrRequestError),
    /// The subject can't be turned.
    #[error("the subject of the csr can't be reversed: {0}")]
    ReversedSubject(NameProblem),
    /// An element of `subjectAltNames` is not accepted.
    #[error("subjectAltNames: {text:?} is not accepted: {problem}")]
    SubjectAltName {
        /// As sent, cut to a sane length.
        text: String,
        /// What is wrong.
        problem: SubjectAltNameProblem,
    },
    /// Extra information or addresses.
    #[error(transparent)]
    Extra(ExtraProblem),
    /// The profile says no.
    #[error(transparent)]
    Profile(ProfileViolation),
    /// What the journal is to know does not fit.
    #[error(transparent)]
    Context(ContextError),
    /// The signer said no or was not there, or there was nothing to send.
    #[error(transparent)]
    Signing(SigningError),
    /// The signer's answer makes no certificate.
    #[error("the signer's answer makes no certificate")]
    NotACertificate(#[source] NotACertificate),
    /// It is signed and in the journal, and the store would not take it.
    #[error(
        "the certificate was issued but could not be recorded yet; it appears by itself within \
         minutes under the id {certificate_id}, so do not ask again"
    )]
    NotRecorded {
        /// The id that the record will have.
        certificate_id: CertificateId,
        /// What the store said last.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}
