//! From a CSR to a certificate and its record. The steps carry the numbers of "The way of one
//! certificate" in the architecture.

use std::sync::Arc;
use std::time::Duration;

use chancery_shared::fail_point;
use chancery_shared::id::CertificateId;

use super::account::{Asked, Names, Outcome, outcomes};
use super::asking::{Asking, Circumstances, parse_names};
use super::csr_issuance::{CsrIssuance, CsrRequestBody, Issued};
use super::csr_request::{CsrRequestError, ParsedCsr};
use super::csr_text;
use super::departures::departures;
use super::end_entity::{Plan, Subject};
use super::extra;
use super::issue_error::IssueError;
use super::new_record::{MadeBy, Records, new_record};
use super::signing::{Signing, SigningError};
use super::subject_key::SubjectKeyError;
use crate::name::{DistinguishedName, NameProblem};
use crate::packaging::pem;
use crate::store::certificate::NewCertificate;

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
    // 3. What: the CSR, its key, the names.
    let request = understand(&issuance)?;
    let plan = plan(&issuance, &request)?;
    let told = departures(&account(&issuance, &request, &plan));
    let context = circumstances(&issuance).context(told);
    fail_point::reach("api: understood");

    // 4. Draft: profile × request → TBSCertificate, once the connection's nonce is known. 5. Ask.
    // 6. Sign: in the signer, which checks all of this again and journals it first.
    let asking = Asking {
        issuer: issuance.issuer,
        plan: &plan,
        subject: request.subject(),
        csr: request.csr.der(),
        context: &context,
    };
    let signed = asking.ask(signing).await.map_err(|error| request.explain(error))?;

    fail_point::reach("api: signed");

    // 7. Record: certificate, history entry and CSR, in one transaction.
    let record = new_record(&context, &signed, Some(request.csr.der()), MadeBy::Request)
        .map_err(IssueError::NotACertificate)?;
    let record = Arc::new(record);
    let certificate_id = insert(&record, records).await?;

    fail_point::reach("api: recorded");

    // 8. Answer.
    let pem = pem::certificate(&record.certificate.der);
    Ok(Issued { certificate_id, pem })
}

/// What the certificate will say of its subject.
#[derive(Debug)]
pub(super) struct Understood {
    csr: ParsedCsr,
    subject: DistinguishedName,
    names: Names,
}

pub(super) fn understand(issuance: &CsrIssuance<'_>) -> Result<Understood, IssueError> {
    let CsrRequestBody { csr, subject_alt_names, reverse_csr_dn, extra_info, extra_emails } =
        issuance.request;
    extra::check(extra_info, extra_emails).map_err(IssueError::Extra)?;
    let der = csr_text::to_der(csr).map_err(IssueError::CsrText)?;
    let csr = ParsedCsr::read(der).map_err(IssueError::Csr)?;
    if issuance.bad_keys.contains(csr.spki()) {
        return Err(IssueError::Csr(CsrRequestError::Key(SubjectKeyError::Known)));
    }
    let from_body = parse_names(subject_alt_names)?;
    let subject = if reverse_csr_dn {
        let reversed = csr.subject().reversed().map_err(NameProblem::NotDer);
        reversed.map_err(IssueError::ReversedSubject)?
    } else {
        csr.subject().clone()
    };
    let profile = &issuance.issuer.profile;
    profile.check_key(csr.key()).map_err(IssueError::Profile)?;
    let all = profile
        .names(&subject, csr.subject_alt_names(), &from_body)
        .map_err(IssueError::Profile)?;
    Ok(Understood { csr, subject, names: Names { all, from_body } })
}

impl Understood {
    pub(super) fn verify_possession(&self) -> Result<(), CsrRequestError> {
        self.csr.verify_possession()
    }

    /// The signer says that possession is not proved; what is at fault is said here, as of any
    /// other fault of the request.
    fn explain(&self, error: IssueError) -> IssueError {
        match error {
            IssueError::Signing(error) if error.is_policy_refusal() => {
                let unproven = self.verify_possession().err();
                unproven.map_or(IssueError::Signing(error), IssueError::Csr)
            }
            other => other,
        }
    }

    pub(super) fn subject(&self) -> Subject<'_> {
        Subject {
            name: &self.subject,
            alternative_names: &self.names.all,
            spki: self.csr.spki(),
            key: self.csr.key(),
        }
    }
}

/// What becomes of each part of the request.
pub(super) fn account<'a>(
    issuance: &CsrIssuance<'a>,
    request: &'a Understood,
    plan: &Plan,
) -> Vec<Outcome<'a>> {
    let asked = Asked {
        csr: Some(&request.csr),
        subject: &request.subject,
        is_reversed: issuance.request.reverse_csr_dn,
        adds_cn: false,
        names: &request.names,
        typed: issuance.request.subject_alt_names,
    };
    outcomes(&asked, &issuance.issuer.profile, plan)
}

pub(super) fn plan(issuance: &CsrIssuance<'_>, request: &Understood) -> Result<Plan, IssueError> {
    let issuer = issuance.issuer;
    Plan::new(&issuer.profile, &issuer.ca, &request.subject(), issuance.now)
        .map_err(|problem| IssueError::Signing(SigningError::Draft(problem)))
}

/// Who asks, through which issuer, and what else goes into the record.
pub(super) fn circumstances<'a>(issuance: &CsrIssuance<'a>) -> Circumstances<'a> {
    let CsrIssuance { requester, issuer, request, bad_keys: _, ids, now } = *issuance;
    Circumstances {
        requester,
        issuer,
        csr_generator_name: None,
        extra_info: request.extra_info,
        extra_emails: request.extra_emails,
        ids,
        now,
    }
}

/// Offers the record to the store until it is there, a few times; says under which id it is, which
/// is another one where reconciliation was faster and had to choose its own.
pub(super) async fn insert<R: Records>(
    record: &Arc<NewCertificate>,
    records: &R,
) -> Result<CertificateId, IssueError> {
    let mut waits = RETRIES.iter();
    loop {
        let error = match records.insert(Arc::clone(record)).await {
            Ok(inserted) => return Ok(inserted.id()),
            Err(error) => error,
        };
        let Some(wait) = waits.next() else {
            let certificate_id = record.certificate.id;
            return Err(IssueError::NotRecorded { certificate_id, source: Box::new(error) });
        };
        tokio::time::sleep(*wait).await;
    }
}

#[cfg(test)]
mod tests;
