//! Filters for certificates.

use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::json::empty_is_absent;

/// What certificates are wanted: those that all given filters hold for. The body of a search, and
/// the parameters of the list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams, ToSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[into_params(parameter_in = Query)]
pub struct CertificateSearch {
    /// A part of the subject, in any case, with or without a blank behind its commas; or a regular
    /// expression.
    #[serde(deserialize_with = "empty_is_absent")]
    pub subject_dn: Option<String>,
    /// The same of the issuer.
    #[serde(deserialize_with = "empty_is_absent")]
    pub issuer_dn: Option<String>,
    /// A part of the common name.
    #[serde(deserialize_with = "empty_is_absent")]
    pub common_name: Option<String>,
    /// A part of one subject alternative name, such as `DNS:www.example.org`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub san: Option<String>,
    /// Hexadecimal, compared as a number.
    #[serde(deserialize_with = "empty_is_absent")]
    pub serial_number: Option<String>,
    /// SHA-1 of the certificate.
    #[serde(deserialize_with = "empty_is_absent")]
    pub thumbprint: Option<String>,
    /// `Active`, `Expired`, `Revoked` or `Renewed`.
    #[serde(deserialize_with = "empty_is_absent")]
    pub status: Option<String>,
    /// The Certificate Issuer, by name or id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub ca_name: Option<String>,
    /// The team, by name or id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub team_name: Option<String>,
    /// The owner, by name or id.
    #[serde(deserialize_with = "empty_is_absent")]
    pub owner_username: Option<String>,
    /// A part of the extra information.
    #[serde(deserialize_with = "empty_is_absent")]
    pub extra_info: Option<String>,
    /// Its life begins at this moment or later.
    #[serde(deserialize_with = "empty_is_absent")]
    pub valid_from_from: Option<String>,
    /// Its life begins at this moment or earlier.
    #[serde(deserialize_with = "empty_is_absent")]
    pub valid_from_to: Option<String>,
    /// Its life ends at this moment or later.
    #[serde(deserialize_with = "empty_is_absent")]
    pub valid_to_from: Option<String>,
    /// Its life ends at this moment or earlier.
    #[serde(deserialize_with = "empty_is_absent")]
    pub valid_to_to: Option<String>,
    /// Its life is not over and will be in so many days.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    #[param(value_type = Option<u32>)]
    pub expiring_in_days: Option<Value>,
    /// So many in one answer at most, 1 to 1000.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    #[param(value_type = Option<u32>)]
    pub certs_per_page: Option<Value>,
    /// The same.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    #[param(value_type = Option<u32>)]
    pub limit: Option<Value>,
    /// Where the page before ended, as its `Link` header says, or the id of its last record.
    #[serde(deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<String>)]
    #[param(value_type = Option<String>)]
    pub after: Option<Value>,
}
