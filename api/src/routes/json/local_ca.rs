//! Local CAs.

use chancery_shared::id::{CertificateId, KeyStoreId, LocalCaId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::certificate::CertificatePolicy;
use crate::issuance::name_constraints::NameConstraintsText;
use crate::json::{Unranged, empty_clears_list, empty_is_absent, empty_is_no_list};

/// A Local CA that is to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewLocalCaBody {
    /// Its name among the Local CAs.
    pub name: String,
    /// Where its key will be, by id.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub key_store_id: Option<String>,
    /// Where its key will be, by name.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub key_store_name: Option<String>,
    /// Whether it certifies itself.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub root_ca: Option<bool>,
    /// The Local CA that certifies it, by id.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub parent_local_ca_id: Option<String>,
    /// The Local CA that certifies it, by name.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub parent_local_ca_name: Option<String>,
    /// Certification by a CA outside; not available yet.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub external: Option<bool>,
    /// Such as `CN=Example Root CA, O=Example`.
    pub subject_dn: String,
    /// How long its certificate lasts, 1 to 9,200 days.
    #[schema(value_type = u32)]
    pub lifetime_in_days: Unranged,
    /// `RSA 2048`, `RSA 3072`, `RSA 4096`, `ECDSA P-256`, `ECDSA P-384`, `ECDSA P-521`, `Ed25519`.
    pub key_algorithm: String,
    /// `SHA-256`, `SHA-384` or `SHA-512`; absent: what suits the key.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub hash_algorithm: Option<String>,
    /// RSASSA-PSS instead of PKCS#1 v1.5.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub rsa_pss: Option<bool>,
    /// How many CAs may stand below it; absent: any number.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub path_length: Option<u8>,
    /// Which names it may certify.
    #[serde(default, deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<Object>)]
    pub name_constraints: Option<NameConstraintsText>,
    /// What its key may sign, each field within the operator's ceiling; what is absent is as the
    /// ceiling has it, what is empty lets nothing pass.
    #[serde(default, deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<Object>)]
    pub policy: Option<Map<String, Value>>,
    /// Certificate policies of its certificate.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    #[schema(value_type = Vec<String>)]
    pub policies: Vec<String>,
    /// URLs of its CRL.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub cdps: Vec<String>,
    /// URLs of its OCSP responders.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub aia_ocsp_urls: Vec<String>,
    /// URLs of its certificate.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub aia_issuer_urls: Vec<String>,
    /// Not available yet.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub crl_lifetime_minutes: Option<u32>,
    /// Not available yet.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub crl_generation_minutes: Option<u32>,
}

/// Body of `PUT /admin/localca/{id}`: what is absent stays as it is. Key, subject and certificate of
/// a CA never change.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct LocalCaChangeBody {
    /// Its name among the Local CAs.
    #[serde(deserialize_with = "empty_is_absent")]
    pub name: Option<String>,
    /// URLs of its CRL; null or empty: none.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub cdps: Option<Option<Vec<String>>>,
    /// URLs of its OCSP responders; null or empty: none.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub aia_ocsp_urls: Option<Option<Vec<String>>>,
    /// URLs of its certificate; null or empty: none.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub aia_issuer_urls: Option<Option<Vec<String>>>,
}

/// A Local CA as administrators see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocalCaItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: LocalCaId,
    /// Its name.
    pub name: String,
    /// Where its key is.
    #[schema(value_type = String)]
    pub key_store_id: KeyStoreId,
    /// Whether it certifies itself.
    pub root_ca: bool,
    /// The Local CA that certifies it.
    #[schema(value_type = Option<String>)]
    pub parent_local_ca_id: Option<LocalCaId>,
    /// Whether a CA outside certifies it.
    pub external: bool,
    /// Its subject (RFC 4514).
    pub subject_dn: String,
    /// How long its certificate lasts.
    pub lifetime_in_days: u32,
    /// Kind of its key.
    pub key_algorithm: String,
    /// With which hash it signs; empty for Ed25519.
    pub hash_algorithm: String,
    /// Whether it signs with RSASSA-PSS.
    pub rsa_pss: bool,
    /// How many CAs may stand below it.
    pub path_length: Option<u8>,
    /// Which names it may certify.
    #[schema(value_type = Option<Object>)]
    pub name_constraints: Option<NameConstraintsText>,
    /// What its key may sign, where it was narrowed.
    #[schema(value_type = Option<Object>)]
    pub policy: Option<chancery_shared::wire::policy::Policy>,
    /// Certificate policies of its certificate.
    #[schema(value_type = Vec<String>)]
    pub policies: Vec<CertificatePolicy>,
    /// URLs of its CRL.
    pub cdps: Vec<String>,
    /// URLs of its OCSP responders.
    pub aia_ocsp_urls: Vec<String>,
    /// URLs of its certificate.
    pub aia_issuer_urls: Vec<String>,
    /// `live`, `offline`, `awaiting certificate`, `awaiting approval`, `revoked`, `deleting`,
    /// `deleted`, `restoring` or `removing`.
    pub status: String,
    /// Its certificate, PEM with CRLF.
    pub ca_certificate: Option<String>,
    /// The record of its certificate.
    #[schema(value_type = Option<String>)]
    pub cert_id: Option<CertificateId>,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
}
