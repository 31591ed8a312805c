//! Why a request ended without a certificate, or without its record.

use chancery_shared::id::CertificateId;

use super::context::ContextError;
use super::csr_request::CsrRequestError;
use super::csr_text::CsrTextError;
use super::extra::ExtraProblem;
use super::signing::SigningError;
use crate::certificate::fields::NotACertificate;
use crate::echo::cut;
use crate::inventory::profile_names::ProfileViolation;
use crate::key_pair::{CsrError, MakeError};
use crate::name::NameProblem;
use crate::name::dn_text::DnTextError;
use crate::name::subject_alt_name::SubjectAltNameProblem;
use crate::packaging::PackagingError;

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
    /// The DN of a request.
    #[error(transparent)]
    Dn(DnTextError),
    /// The request asks for the CN as a name, and it is none.
    #[error("addCnAsDnsSan: {}", cn_problem(.0.as_deref()))]
    CommonNameAsName(Option<String>),
    /// There is no key pair.
    #[error(transparent)]
    Key(MakeError),
    /// There is no CSR of our own.
    #[error(transparent)]
    OwnCsr(CsrError),
    /// It is signed and recorded, and there is no package; the key is lost with it.
    #[error("the private key of the certificate {certificate_id} was lost")]
    KeyLost {
        /// The record's id.
        certificate_id: CertificateId,
        /// Why.
        #[source]
        source: KeyLoss,
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

/// Why there is no package.
#[derive(Debug, thiserror::Error)]
pub enum KeyLoss {
    /// It could not be made.
    #[error(transparent)]
    Packaging(#[from] PackagingError),
    /// Nobody made it.
    #[error(transparent)]
    Work(#[from] MakeError),
}

fn cn_problem(common_name: Option<&str>) -> String {
    match common_name {
        Some(name) => format!(
            "the CN {:?} is no host name or address; leave addCnAsDnsSan out, or write a CN such \
             as www.example.org",
            cut(name)
        ),
        None => "the dn has no CN; leave addCnAsDnsSan out, or write CN=www.example.org".to_owned(),
    }
}
