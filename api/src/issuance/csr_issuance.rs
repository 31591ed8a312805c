//! What issuance is given and what it answers.

use chancery_shared::bad_keys::BadKeys;
use chancery_shared::id::{
    CertIssuerId, CertificateId, CsrId, KeyId, LocalCaId, RowId, TeamId, UserId,
};
use time::OffsetDateTime;

use super::issuing_ca::IssuingCa;
use crate::inventory::profile_definition::ProfileDefinition;

/// A CSR request whose sender is known (step 1) and may use this issuer for this team (step 2).
#[derive(Clone, Debug)]
pub struct CsrIssuance<'a> {
    /// Who asks, and for whom.
    pub requester: Requester<'a>,
    /// Through which issuer.
    pub issuer: &'a Issuer,
    /// What was sent.
    pub request: CsrRequestBody<'a>,
    /// Keys that are not certified.
    pub bad_keys: &'a BadKeys,
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
    /// The token that holds it.
    pub token: String,
    /// The record of that CA's certificate.
    pub issuer_certificate_id: CertificateId,
    /// That CA, for the draft.
    pub ca: IssuingCa,
    /// DER of that CA's certificate and of those above it, up to the root.
    pub chain: Vec<Vec<u8>>,
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
