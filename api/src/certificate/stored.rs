//! The row of the `certificate` table, and how an issued certificate becomes one.

use chancery_shared::id::{
    CertIssuerId, CertificateId, CsrId, LocalCaId, SignerId, TeamId, UserId,
};
use chancery_shared::wire::JournalHead;
use time::OffsetDateTime;

use super::facts::CertificateFacts;
use super::fields::NotACertificate;
use crate::issuance::context::IssuanceContext;

/// One row, column by column. What stands in the certificate itself is repeated only where a
/// query needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCertificate {
    /// The record's id.
    pub certificate_id: CertificateId,
    /// See [`super::facts::issuer_key`].
    pub issuer_key: String,
    /// Hexadecimal, an even number of digits, no sign octet.
    pub serial_number: String,
    /// The certificate.
    pub der: Vec<u8>,
    /// SHA-1 of the DER, hexadecimal.
    pub thumbprint: String,
    /// Empty where there is none.
    pub common_name: String,
    /// RFC 4514.
    pub subject_dn: String,
    /// RFC 4514.
    pub issuer_dn: String,
    /// First second of its life.
    pub not_before: OffsetDateTime,
    /// Last second of its life.
    pub not_after: OffsetDateTime,
    /// Whether it is a CA's.
    pub is_ca: bool,
    /// Through which issuer it was requested.
    pub cert_issuer_id: Option<CertIssuerId>,
    /// The Local CA that signed it.
    pub local_ca_id: Option<LocalCaId>,
    /// The record of its issuer's certificate.
    pub issuer_certificate_id: Option<CertificateId>,
    /// The request.
    pub csr_id: Option<CsrId>,
    /// Whose it is.
    pub owner_user_id: UserId,
    /// That user's name.
    pub owner_username: String,
    /// Which team's it is.
    pub team_id: TeamId,
    /// The text that came with the request.
    pub extra_details: Option<String>,
    /// Who else gets mail.
    pub extra_emails: Option<Vec<String>>,
    /// Whether reminders are sent.
    pub track_expiry: bool,
    /// Whether another certificate replaces it.
    pub renewed: bool,
    /// Which one.
    pub renewed_by_certificate_id: Option<CertificateId>,
    /// Which one it replaces.
    pub renews_certificate_id: Option<CertificateId>,
    /// Whether it is revoked or on hold.
    pub revoked: bool,
    /// Since when.
    pub revoked_at: Option<OffsetDateTime>,
    /// Why.
    pub revocation_reason: Option<String>,
    /// Whether its key is kept.
    pub has_key_data: bool,
    /// When it was imported, if it was.
    pub imported_at: Option<OffsetDateTime>,
    /// Of Microsoft's CA.
    pub ms_template_name: Option<String>,
    /// Whose journal knows it.
    pub signer_id: Option<SignerId>,
    /// At which entry.
    pub journal_seq: Option<u64>,
    /// That entry's hash, hexadecimal.
    pub journal_hash: Option<String>,
    /// When the record's story begins.
    pub created_at: OffsetDateTime,
}

impl StoredCertificate {
    /// The row of a certificate that the signer has just signed, or that reconciliation found in
    /// the journal: both make the same row, because all of it stands in `context`.
    ///
    /// `journal` is the head after the `signed` entry.
    ///
    /// # Errors
    ///
    /// `der` is no certificate.
    pub fn issued(
        context: &IssuanceContext,
        der: Vec<u8>,
        journal: JournalHead,
    ) -> Result<Self, NotACertificate> {
        let facts = CertificateFacts::read(&der)?;
        let emails = &context.extra_emails;
        Ok(Self {
            certificate_id: context.certificate_id,
            issuer_key: facts.issuer_key,
            serial_number: facts.serial_number,
            der,
            thumbprint: facts.thumbprint,
            common_name: facts.common_name,
            subject_dn: facts.subject_dn,
            issuer_dn: facts.issuer_dn,
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
            signer_id: Some(journal.signer_id),
            journal_seq: Some(journal.seq),
            journal_hash: Some(journal.hash.to_string()),
            created_at: context.requested_at,
        })
    }
}
