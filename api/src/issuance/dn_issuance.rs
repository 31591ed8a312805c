//! What issuance for a DN is given and what it answers.

use chancery_shared::id::CertificateId;
use time::OffsetDateTime;

use super::csr_issuance::{Issuer, NewIds, Requester};
use crate::store::csr_generator::CsrGenerator;

/// A DN request whose sender is known (step 1) and may use this issuer for this team with this
/// CSR Generator (step 2).
#[derive(Clone, Copy, Debug)]
pub struct DnIssuance<'a> {
    /// Who asks, and for whom.
    pub requester: Requester<'a>,
    /// Through which issuer.
    pub issuer: &'a Issuer,
    /// What makes the key.
    pub generator: &'a CsrGenerator,
    /// What was sent.
    pub request: DnRequestBody<'a>,
    /// Chosen for the new rows.
    pub ids: NewIds,
    /// When.
    pub now: OffsetDateTime,
}

/// The body of a DN request; what was empty is absent.
#[derive(Clone, Copy, Debug, Default)]
pub struct DnRequestBody<'a> {
    /// As typed.
    pub dn: &'a str,
    /// `TYPE:value`.
    pub subject_alt_names: &'a [String],
    /// Whether the CN becomes a name too.
    pub add_cn_as_dns_san: bool,
    /// Free text.
    pub extra_info: Option<&'a str>,
    /// Who else gets mail.
    pub extra_emails: &'a [String],
}

/// What the caller gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedWithKey {
    /// The record's id.
    pub certificate_id: CertificateId,
    /// PEM with CRLF.
    pub pem: String,
    /// PKCS#12 with certificate, chain and private key.
    pub p12: Vec<u8>,
}
