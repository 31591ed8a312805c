//! Certificate records.

use serde::Serialize;
use utoipa::ToSchema;

/// A certificate record: the specification's fields in its order, then ours.
#[derive(Clone, Debug, Serialize, PartialEq, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the specification has these flags")]
pub struct CertificateRecord {
    /// The same as `certId` of the request.
    pub id: String,
    /// The Certificate Issuer.
    pub ca_id: Option<String>,
    /// The Local CA that signed it.
    pub local_ca_id: Option<String>,
    /// The CSR.
    pub csr_id: Option<String>,
    /// PEM with CRLF line breaks.
    pub pem_cert: String,
    /// The most specific CN; empty where there is none.
    pub common_name: String,
    /// RFC 4514, with `, ` between RDNs.
    pub subject_dn: String,
    /// As `subjectDn`.
    pub issuer_dn: String,
    /// Record of the issuer's certificate.
    pub issuer_cert_id: Option<String>,
    /// Lower-case hexadecimal, an even number of digits.
    pub serial_number: String,
    /// Such as `RSA`, `ECDSA`, `Ed25519`.
    pub signature_algorithm: String,
    /// Such as `SHA-256`; empty for algorithms that leave no choice, such as Ed25519.
    pub hash_algorithm: String,
    /// Display names such as `Digital Signature`.
    pub key_usages: Vec<String>,
    /// Display names such as `Server Authentication`; an unknown one by its OID.
    pub enhanced_key_usages: Vec<String>,
    /// `DNS:…`, `EMAIL:…`, `IP:…`, `URI:…`, `UPN:…`, `OTHER:<oid>:<hex>`, `DIRNAME:…` or
    /// `RID:…`.
    pub subject_alternative_names: Vec<String>,
    /// ISO 8601 with milliseconds and offset.
    pub valid_from: String,
    /// As `validFrom`; the last second of its life.
    pub valid_to: String,
    /// `YYYY-MM-DD HH:MM:SS`, UTC.
    pub valid_from_str: String,
    /// As `validFromStr`.
    pub valid_to_str: String,
    /// Whose it is.
    pub owner_user_id: String,
    /// That user's name.
    pub owner_username: String,
    /// Which team's it is.
    pub team_id: String,
    /// Neither revoked nor expired.
    pub active: bool,
    /// Whether another certificate replaces it.
    pub renewed: bool,
    /// Which one.
    pub renewed_by_cert_id: Option<String>,
    /// Which one it replaces.
    pub renews_cert_id: Option<String>,
    /// Whether it is revoked or on hold.
    pub revoked: bool,
    /// Oldest first.
    pub history: Vec<HistoryRecord>,
    /// The extra information.
    pub extra_details: Option<String>,
    /// Who else gets mail.
    pub extra_emails: Option<Vec<String>>,
    /// Whether reminders are sent.
    pub track_expiry: bool,
    /// Whether it is a CA's.
    pub is_ca: bool,
    /// Whether key data is still retained.
    pub has_key_data: bool,
    /// Whether it came from elsewhere.
    pub imported: bool,
    /// When.
    pub import_time: Option<String>,
    /// `OCSP:<url>` and `CAISSUERS:<url>`.
    pub aias: Vec<String>,
    /// URLs of the CRL.
    pub cdps: Vec<String>,
    /// SHA-1 of the DER, lower-case hexadecimal.
    pub thumbprint: String,
    /// `<oid>`, `CPS|<oid>|<uri>` or `User Notice|<oid>|<text>`.
    pub policies: Vec<String>,
    /// Bits as text; empty where unknown.
    pub key_size: String,
    /// Such as `P-256`.
    pub ecc_curve: Option<String>,
    /// Of certificates of Microsoft's CA.
    pub ms_template_name: Option<String>,
    /// To the begin of its last second, with fraction; negative from then on.
    pub days_to_expiry: f64,
    /// `Active`, `Expired`, `Revoked` or `Renewed`.
    pub status: CertificateStatus,
    /// Since when it is revoked.
    pub revocation_time: Option<String>,
    /// Why.
    pub revocation_reason: Option<String>,
    /// Name of the Certificate Issuer.
    pub issuer_name: Option<String>,
    /// Name of the team.
    pub team_name: Option<String>,
}

/// An entry of `history`.
#[derive(Clone, Debug, Serialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HistoryRecord {
    /// ISO 8601 with milliseconds and offset.
    pub timestamp: String,
    /// `YYYY-MM-DD HH:MM:SS.mmm`, UTC.
    pub timestamp_str: String,
    /// Such as `created`.
    pub event: String,
    /// One sentence that names the user.
    pub details: String,
}

/// Where a certificate stands: of several the first that applies, in the order of this list.
#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, ToSchema)]
pub enum CertificateStatus {
    /// Revoked or on hold.
    Revoked,
    /// Its life is over.
    Expired,
    /// Another certificate replaces it.
    Renewed,
    /// None of these.
    Active,
}
