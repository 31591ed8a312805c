//! What is sent to have a certificate, and what comes back.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{empty_is_absent, empty_is_no_list, must_be_absent};

/// Body of `POST /certs/requestp10`. Empty texts, lists and null mean that a field is left out.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CsrRequest {
    /// The Certificate Issuer, by name.
    #[serde(deserialize_with = "empty_is_absent")]
    pub ca_name: Option<String>,
    /// The same as `caName`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub issuer_name: Option<String>,
    /// The Certificate Issuer, by id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub issuer_id: Option<String>,
    /// The team, by name; required where the user belongs to more than one.
    #[serde(deserialize_with = "empty_is_absent")]
    pub team_name: Option<String>,
    /// The team, by id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub team_id: Option<String>,
    /// The CSR as PEM or base64.
    #[serde(deserialize_with = "empty_is_absent")]
    pub csr: Option<String>,
    /// Further names, each `TYPE:value` with the type DNS, EMAIL, IP or URI.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub subject_alt_names: Vec<String>,
    /// Turns the order of the RDNs of the CSR's subject.
    #[serde(deserialize_with = "empty_is_absent")]
    pub reverse_csr_dn: Option<bool>,
    /// Free text, at most 4 KiB.
    #[serde(deserialize_with = "empty_is_absent")]
    pub extra_info: Option<String>,
    /// Who gets mail too: at most 20 addresses.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub extra_emails: Vec<String>,
    /// Does not apply to a CSR; accepted while it is empty.
    #[serde(deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<String>)]
    pub id: (),
    /// Does not apply to a CSR; accepted while it is empty.
    #[serde(deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<String>)]
    pub dn: (),
    /// Does not apply to a CSR; accepted while it is empty.
    #[serde(deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<String>)]
    pub csr_generator_name: (),
    /// Does not apply to a CSR; accepted while it is empty.
    #[serde(deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<String>)]
    pub csr_generator_id: (),
    /// Does not apply to a CSR; accepted while it is empty.
    #[serde(deserialize_with = "must_be_absent", rename = "p12Password")]
    #[schema(value_type = Option<String>)]
    pub p12_password: (),
    /// Does not apply to a CSR; accepted while it is empty.
    #[serde(deserialize_with = "must_be_absent", rename = "p12Profile")]
    #[schema(value_type = Option<String>)]
    pub p12_profile: (),
    /// Does not apply to a CSR; accepted while it is false.
    #[serde(deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<bool>)]
    pub add_cn_as_dns_san: (),
}

/// The certificate that was issued.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuedCertificate {
    /// The id of its record.
    pub cert_id: String,
    /// The same as `certId`.
    pub id: String,
    /// PEM with CRLF line breaks.
    pub pem_cert: String,
}
