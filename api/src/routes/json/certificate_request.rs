//! What is sent to have a certificate, and what comes back.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{empty_is_absent, empty_is_no_list, must_be_absent};
use crate::packaging::password::p12_password;
use crate::packaging::{P12Password, P12Profile};

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

/// Body of `POST /certs/request`. Empty texts, lists and null mean that a field is left out.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DnRequest {
    /// The Certificate Issuer, by name.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub ca_name: Option<String>,
    /// The same as `caName`.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub issuer_name: Option<String>,
    /// The Certificate Issuer, by id.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub issuer_id: Option<String>,
    /// The team, by name; required where the user belongs to more than one.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub team_name: Option<String>,
    /// The team, by id.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub team_id: Option<String>,
    /// The subject, such as `CN=www.example.org,O=Example`.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub dn: Option<String>,
    /// The CSR Generator, by name.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub csr_generator_name: Option<String>,
    /// The CSR Generator, by id.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub csr_generator_id: Option<String>,
    /// What opens the package: 1 to 1,024 printable ASCII characters.
    #[serde(default, deserialize_with = "p12_password", rename = "p12Password")]
    #[schema(value_type = Option<String>)]
    pub p12_password: Option<P12Password>,
    /// `modern` (AES-256, SHA-256), also where it is left out, or `compatible` (3DES, SHA-1).
    #[serde(default, deserialize_with = "empty_is_absent", rename = "p12Profile")]
    pub p12_profile: Option<P12Profile>,
    /// Further names, each `TYPE:value` with the type DNS, EMAIL, IP or URI.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub subject_alt_names: Vec<String>,
    /// Whether the CN becomes a DNS name, or an IP address where it is one.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub add_cn_as_dns_san: Option<bool>,
    /// Free text, at most 4 KiB.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub extra_info: Option<String>,
    /// Who gets mail too: at most 20 addresses.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub extra_emails: Vec<String>,
    /// Does not apply to a DN; accepted while it is empty.
    #[serde(default, deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<String>)]
    pub id: (),
    /// Does not apply to a DN; accepted while it is empty.
    #[serde(default, deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<String>)]
    pub csr: (),
    /// Does not apply to a DN; accepted while it is false.
    #[serde(default, deserialize_with = "must_be_absent")]
    #[schema(value_type = Option<bool>)]
    pub reverse_csr_dn: (),
}

/// The certificate that was issued, with its private key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuedWithKey {
    /// The id of its record.
    pub cert_id: String,
    /// The same as `certId`.
    pub id: String,
    /// PEM with CRLF line breaks.
    pub pem_cert: String,
    /// PKCS#12 with certificate, chain and private key, in base64; `p12Password` opens it.
    #[serde(rename = "p12Data")]
    pub p12_data: String,
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
