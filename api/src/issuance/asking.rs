//! What both kinds of request have in common: names as typed, the journal's context, the signer's
//! question.

use chancery_shared::bytes::SerialNonce;
use time::OffsetDateTime;

use super::context::IssuanceContext;
use super::csr_issuance::{Issuer, NewIds, Requester};
use super::end_entity::{Plan, Subject};
use super::issue_error::IssueError;
use super::signing::{SignedTbs, Signing, SigningRequest};
use crate::echo::cut;
use crate::name::SubjectAltName;

/// Reads `subjectAltNames`.
pub(super) fn parse_names(texts: &[String]) -> Result<Vec<SubjectAltName>, IssueError> {
    let read = |text: &String| {
        SubjectAltName::parse(text).map_err(|problem| {
            let text = cut(text);
            IssueError::SubjectAltName { text, problem }
        })
    };
    texts.iter().map(read).collect()
}

/// Everything of a record that neither certificate nor CSR says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances<'a> {
    pub(super) requester: Requester<'a>,
    pub(super) issuer: &'a Issuer,
    pub(super) csr_generator_name: Option<&'a str>,
    pub(super) extra_info: Option<&'a str>,
    pub(super) extra_emails: &'a [String],
    pub(super) ids: NewIds,
    pub(super) now: OffsetDateTime,
}

impl Circumstances<'_> {
    /// The journal's context.
    pub(super) fn context(&self, departures: Vec<String>) -> IssuanceContext {
        let Self { requester, issuer, csr_generator_name, extra_info, extra_emails, ids, now } =
            *self;
        IssuanceContext {
            request_id: requester.request_id.to_owned(),
            requested_at: now,
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
            csr_generator_name: csr_generator_name.map(str::to_owned),
            renews_certificate_id: None,
            extra_info: extra_info.map(str::to_owned),
            extra_emails: extra_emails.to_vec(),
            track_expiry: true,
            departures,
        }
    }
}

/// A certificate that is to be signed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asking<'a> {
    pub(super) issuer: &'a Issuer,
    pub(super) plan: &'a Plan,
    pub(super) subject: Subject<'a>,
    pub(super) csr: &'a [u8],
    pub(super) context: &'a IssuanceContext,
}

impl Asking<'_> {
    /// Drafts it once the connection's nonce is known, and asks the signer.
    pub(super) async fn ask<S: Signing>(&self, signing: &S) -> Result<SignedTbs, IssueError> {
        let Self { issuer, plan, subject, csr, context } = self;
        let request = SigningRequest {
            key_id: issuer.key_id,
            draft: |nonce: SerialNonce| plan.draft(&issuer.ca, subject, nonce),
            csr,
            context: context.to_wire().map_err(IssueError::Context)?,
        };
        signing.sign_certificate(request).await.map_err(IssueError::Signing)
    }
}
