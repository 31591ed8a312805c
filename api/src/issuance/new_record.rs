//! The rows of a certificate that was signed: one transaction, made the same way by the request
//! and by reconciliation.

use std::future::Future;
use std::sync::Arc;

use chancery_shared::certificate::assemble;
use chancery_shared::id::{CertIssuerId, RowId, TeamId};
use chancery_shared::wire::JournalHead;
use serde::Serialize;
use time::OffsetDateTime;

use super::context::IssuanceContext;
use super::signing::SignedTbs;
use crate::audit::AuditDraft;
use crate::certificate::RecordedFacts;
use crate::certificate::fields::NotACertificate;
use crate::certificate::history::HistoryEvent;
use crate::store::audit::AuditEntry;
use crate::store::certificate::{Certificate, HistoryEntry, Inserted, NewCertificate};
use crate::store::{Store, StoreError};

/// Who makes the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MadeBy {
    /// The request itself.
    Request,
    /// Reconciliation, which says so in an entry of its own.
    Reconciliation {
        /// When.
        at: OffsetDateTime,
        /// Row of its entry.
        history_id: RowId,
    },
}

/// What issuance needs of the store.
pub trait Records: Sync {
    /// Why the store failed.
    type Error: std::error::Error + Send + Sync + 'static;

    /// Inserts all rows in one transaction, or none.
    ///
    /// # Errors
    ///
    /// The store failed; nothing was inserted, or it is not known whether it was.
    fn insert(
        &self,
        record: Arc<NewCertificate>,
    ) -> impl Future<Output = Result<Inserted, Self::Error>> + Send;
}

impl Records for Store {
    type Error = StoreError;

    async fn insert(&self, record: Arc<NewCertificate>) -> Result<Inserted, StoreError> {
        self.insert_certificate(record).await
    }
}

/// The rows of what the signer signed. Request and reconciliation make the same ones, because all
/// stands in `context`; reconciliation adds that it was the one.
///
/// # Errors
///
/// TBS and signature make no certificate, which those of no signer's answer do.
pub fn new_record(
    context: &IssuanceContext,
    signed: &SignedTbs,
    csr: Option<&[u8]>,
    made_by: MadeBy,
) -> Result<NewCertificate, NotACertificate> {
    let der = assemble(&signed.tbs, &signed.signature)?;
    let mut history = vec![created(context)];
    if let MadeBy::Reconciliation { at, history_id } = made_by {
        history.push(HistoryEntry {
            id: history_id,
            happened_at: at,
            event: HistoryEvent::Recovered,
            details: context.recovered_details(),
        });
    }
    let certificate = row(context, der, Some(signed.journal))?;
    Ok(NewCertificate {
        audit: entry(context, &certificate, made_by),
        certificate,
        csr: csr.filter(|_| context.csr_id.is_some()).map(<[u8]>::to_vec),
        history,
        key_data: None,
    })
}

/// What the audit says of it.
fn entry(context: &IssuanceContext, certificate: &Certificate, made_by: MadeBy) -> AuditEntry {
    let draft = match made_by {
        MadeBy::Request => AuditDraft::new(context.requested_at, "issue", "certs")
            .by(context.actor_user_id, &context.actor_username),
        MadeBy::Reconciliation { at, .. } => AuditDraft::new(at, "recover", "certs"),
    };
    let after = Told {
        serial_number: &certificate.serial_number,
        issuer_dn: &certificate.issuer_dn,
        cert_issuer_id: context.cert_issuer_id,
        owner_username: &context.owner_username,
        team_id: context.team_id,
    };
    draft
        .in_request(&context.request_id)
        .on(&certificate.id, &certificate.subject_dn)
        .after(after)
        .into()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Told<'a> {
    serial_number: &'a str,
    issuer_dn: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cert_issuer_id: Option<CertIssuerId>,
    owner_username: &'a str,
    team_id: TeamId,
}

/// The first entry of its history.
pub(super) fn created(context: &IssuanceContext) -> HistoryEntry {
    HistoryEntry {
        id: context.history_id,
        happened_at: context.requested_at,
        event: HistoryEvent::Created,
        details: context.created_details(),
    }
}

/// Its row; what was not signed yet has no place in the journal.
pub(super) fn row(
    context: &IssuanceContext,
    der: Vec<u8>,
    journal: Option<JournalHead>,
) -> Result<Certificate, NotACertificate> {
    let facts = RecordedFacts::read(&der)?;
    let emails = &context.extra_emails;
    Ok(Certificate {
        id: context.certificate_id,
        issuer_key: facts.issuer_key,
        serial_number: facts.serial_number,
        der,
        thumbprint: facts.thumbprint,
        common_name: facts.common_name,
        subject_dn: facts.subject_dn,
        issuer_dn: facts.issuer_dn,
        subject_alt_names: facts.subject_alt_names,
        not_before: facts.not_before,
        not_after: facts.not_after,
        is_ca: facts.is_ca,
        cert_issuer_id: context.cert_issuer_id,
        local_ca_id: context.local_ca_id,
        issuer_certificate_id: context.issuer_certificate_id,
        csr_id: context.csr_id,
        owner_user_id: context.owner_user_id,
        owner_username: context.owner_username.clone(),
        team_id: context.team_id,
        extra_details: context.extra_info.clone(),
        extra_emails: (!emails.is_empty()).then(|| emails.clone()),
        track_expiry: context.track_expiry,
        renewed: false,
        renewed_by_certificate_id: None,
        renews_certificate_id: context.renews_certificate_id,
        revoked: false,
        revoked_at: None,
        revocation_reason: None,
        has_key_data: false,
        imported_at: None,
        ms_template_name: facts.ms_template_name,
        journal,
        created_at: context.requested_at,
    })
}
