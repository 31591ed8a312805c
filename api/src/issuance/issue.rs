//! From a CSR to a certificate and its record. The steps carry the numbers of "The way of one
//! certificate" in the architecture.

use std::time::Duration;

use chancery_shared::id::{
    CertIssuerId, CertificateId, CsrId, KeyId, LocalCaId, RowId, TeamId, UserId,
};
use time::OffsetDateTime;

use super::context::{ContextError, IssuanceContext};
use super::csr_request::{CsrRequestError, ParsedCsr};
use super::csr_text::{self, CsrTextError};
use super::end_entity::{self, Subject};
use super::extra::{self, ExtraProblem};
use super::issuing_ca::IssuingCa;
use super::new_record::{Inserted, MadeBy, NewRecord, Records};
use super::signing::{SignedTbs, Signing, SigningError, SigningRequest};
use crate::certificate::fields::NotACertificate;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::inventory::profile_names::ProfileViolation;
use crate::name::subject_alt_name::SubjectAltNameProblem;
use crate::name::{DistinguishedName, NameProblem, SubjectAltName};
use crate::packaging::pem;

/// A CSR request whose sender is known (step 1) and may use this issuer for this team (step 2).
#[derive(Clone, Debug)]
pub struct CsrIssuance<'a> {
    /// Who asks, and for whom.
    pub requester: Requester<'a>,
    /// Through which issuer.
    pub issuer: &'a Issuer,
    /// What was sent.
    pub request: CsrRequestBody<'a>,
    /// Chosen for the new rows.
    pub ids: NewIds,
    /// When.
    pub now: OffsetDateTime,
}

/// Who asks, and for which team.
#[derive(Clone, Copy, Debug)]
pub struct Requester<'a> {
    /// By which the call is traced.
    pub request_id: &'a str,
    /// The user, owner of what is issued.
    pub user_id: UserId,
    /// That user's name.
    pub username: &'a str,
    /// The team that it will belong to.
    pub team_id: TeamId,
}

/// A Certificate Issuer with all that issuing through it needs.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// Its id.
    pub cert_issuer_id: CertIssuerId,
    /// Its Local CA.
    pub local_ca_id: LocalCaId,
    /// That CA's key.
    pub key_id: KeyId,
    /// The record of that CA's certificate.
    pub issuer_certificate_id: CertificateId,
    /// That CA, for the draft.
    pub ca: IssuingCa,
    /// What its certificates contain.
    pub profile: ProfileDefinition,
}

/// The body of a CSR request; what was empty is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct CsrRequestBody<'a> {
    /// Text in any accepted form, or DER.
    pub csr: &'a [u8],
    /// `TYPE:value`.
    pub subject_alt_names: &'a [String],
    /// Whether the RDNs of the CSR's subject are turned.
    pub reverse_csr_dn: bool,
    /// Free text.
    pub extra_info: Option<&'a str>,
    /// Who else gets mail.
    pub extra_emails: &'a [String],
}

/// Ids of the rows that will be made, chosen before the signer is asked.
#[derive(Clone, Copy, Debug)]
pub struct NewIds {
    /// Of the certificate.
    pub certificate_id: CertificateId,
    /// Of the CSR.
    pub csr_id: CsrId,
    /// Of the history entry.
    pub history_id: RowId,
}

/// What the caller gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issued {
    /// The record's id.
    pub certificate_id: CertificateId,
    /// PEM with CRLF.
    pub pem: String,
}

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

/// How long to wait before the record is offered to the store again.
const RETRIES: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(800)];

/// Issues one certificate for a CSR. Steps 1 and 2 are behind: [`CsrIssuance`] says so.
///
/// The future must run to its end: where it is dropped after the signature, the record appears
/// only with the next reconciliation.
///
/// # Errors
///
/// Before step 5 nothing has left this process. After it the journal knows the certificate, and
/// reconciliation makes its record whatever happens here.
pub async fn issue<S: Signing, R: Records>(
    issuance: CsrIssuance<'_>,
    signing: &S,
    records: &R,
) -> Result<Issued, IssueError> {
    // 3. What: the CSR, its proof of possession, its key, the names.
    let request = understand(&issuance)?;
    let context = context(&issuance);

    // 4. Draft: profile × request → TBSCertificate, once the connection's nonce is known. 5. Ask.
    // 6. is the signer's: it checks all of this again and journals it.
    let signed = ask(&issuance, &request, &context, signing).await?;

    // 7. Record: certificate, history entry and CSR, in one transaction.
    let record = NewRecord::of(&context, &signed, Some(request.csr.der()), MadeBy::Request)
        .map_err(IssueError::NotACertificate)?;
    insert(&record, records).await?;

    // 8. Answer.
    let pem = pem::certificate(&record.certificate.der);
    Ok(Issued { certificate_id: record.certificate.certificate_id, pem })
}

/// What the certificate will say of its subject.
struct Understood {
    csr: ParsedCsr,
    subject: DistinguishedName,
    names: Vec<SubjectAltName>,
}

fn understand(issuance: &CsrIssuance<'_>) -> Result<Understood, IssueError> {
    let CsrRequestBody { csr, subject_alt_names, reverse_csr_dn, extra_info, extra_emails } =
        issuance.request;
    extra::check(extra_info, extra_emails).map_err(IssueError::Extra)?;
    let der = csr_text::to_der(csr).map_err(IssueError::CsrText)?;
    let csr = ParsedCsr::read(der).map_err(IssueError::Csr)?;
    let from_body = subject_alt_names
        .iter()
        .map(|text| {
            SubjectAltName::parse(text).map_err(|problem| {
                let text = text.chars().take(256).collect();
                IssueError::SubjectAltName { text, problem }
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let subject = if reverse_csr_dn {
        let reversed = csr.subject().reversed().map_err(NameProblem::NotDer);
        reversed.map_err(IssueError::ReversedSubject)?
    } else {
        csr.subject().clone()
    };
    let profile = &issuance.issuer.profile;
    profile.check_key(csr.key()).map_err(IssueError::Profile)?;
    let names = profile
        .names(&subject, csr.subject_alt_names(), &from_body)
        .map_err(IssueError::Profile)?;
    Ok(Understood { csr, subject, names })
}

fn context(issuance: &CsrIssuance<'_>) -> IssuanceContext {
    let CsrIssuance { requester, issuer, request, ids, now } = issuance;
    IssuanceContext {
        request_id: requester.request_id.to_owned(),
        requested_at: *now,
        actor_user_id: requester.user_id,
        actor_username: requester.username.to_owned(),
        owner_user_id: requester.user_id,
        owner_username: requester.username.to_owned(),
        team_id: requester.team_id,
        cert_issuer_id: Some(issuer.cert_issuer_id),
        local_ca_id: Some(issuer.local_ca_id),
        issuer_certificate_id: Some(issuer.issuer_certificate_id),
        certified_local_ca_id: None,
        certificate_id: ids.certificate_id,
        csr_id: Some(ids.csr_id),
        history_id: ids.history_id,
        csr_generator_name: None,
        renews_certificate_id: None,
        extra_info: request.extra_info.map(str::to_owned),
        extra_emails: request.extra_emails.to_vec(),
        track_expiry: true,
    }
}

async fn ask<S: Signing>(
    issuance: &CsrIssuance<'_>,
    request: &Understood,
    context: &IssuanceContext,
    signing: &S,
) -> Result<SignedTbs, IssueError> {
    let issuer = issuance.issuer;
    let subject = Subject {
        name: &request.subject,
        alternative_names: &request.names,
        spki: request.csr.spki(),
        key: request.csr.key(),
    };
    let now = issuance.now;
    let request = SigningRequest {
        key_id: issuer.key_id,
        draft: |nonce| end_entity::draft(&issuer.profile, &issuer.ca, &subject, nonce, now),
        csr: request.csr.der(),
        context: context.to_wire().map_err(IssueError::Context)?,
    };
    signing.sign_certificate(request).await.map_err(IssueError::Signing)
}

/// Offers the record to the store until it is there, a few times.
async fn insert<R: Records>(record: &NewRecord, records: &R) -> Result<(), IssueError> {
    let mut waits = RETRIES.iter();
    loop {
        let error = match records.insert(record).await {
            Ok(Inserted::New | Inserted::AlreadyThere) => return Ok(()),
            Err(error) => error,
        };
        let Some(wait) = waits.next() else {
            let certificate_id = record.certificate.certificate_id;
            return Err(IssueError::NotRecorded { certificate_id, source: Box::new(error) });
        };
        tokio::time::sleep(*wait).await;
    }
}

#[cfg(test)]
mod tests;
