//! What is sent to have a certificate from elsewhere on record.

use serde::Deserialize;
use utoipa::ToSchema;

use crate::json::empty_is_absent;

/// Body of `POST /certs/import`, at most 10 MiB. Empty texts and null mean that a field is left out.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CertificateImport {
    /// One certificate, as PEM or as base64 of its DER.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = String)]
    pub cert_data: Option<String>,
    /// The CSR for its key, in the same forms as in a request.
    #[serde(deserialize_with = "empty_is_absent")]
    pub csr_data: Option<String>,
    /// Whose it will be, by id; left out: yours.
    #[serde(deserialize_with = "empty_is_absent")]
    pub owner_user_id: Option<String>,
    /// Which team's it will be, by id; required where the owner belongs to more than one.
    #[serde(deserialize_with = "empty_is_absent")]
    pub team_id: Option<String>,
    /// The Certificate Issuer that it came through, by id; only for certificates of its CA.
    #[serde(deserialize_with = "empty_is_absent")]
    pub cert_issuer_id: Option<String>,
    /// Free text, at most 4 KiB.
    #[serde(deserialize_with = "empty_is_absent")]
    pub extra_info: Option<String>,
    /// Whether it is revoked.
    #[serde(deserialize_with = "empty_is_absent")]
    pub revoked: Option<bool>,
    /// Since when; left out: now.
    #[serde(deserialize_with = "empty_is_absent")]
    pub revocation_time: Option<String>,
    /// Why, by the name of RFC 5280 or its words in any case; `removeFromCRL` means not revoked.
    #[serde(deserialize_with = "empty_is_absent")]
    pub revocation_reason: Option<String>,
    /// Its template, where the certificate does not say.
    #[serde(deserialize_with = "empty_is_absent")]
    pub ms_template_name: Option<String>,
}
