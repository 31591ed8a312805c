//! Certificate Issuers.

use chancery_shared::id::{CertIssuerId, LocalCaId, ProfileId, TeamId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::json::{empty_clears_list, empty_is_absent, empty_is_no_list};
use crate::packaging::pem;
use crate::store::cert_issuer::CertIssuer;
use crate::store::certificate::Certificate;
use crate::timestamp;

/// What signs for an issuer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
pub enum CaTypeName {
    /// A Local CA.
    Local,
}

/// A Certificate Issuer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CertIssuer)]
pub struct CertIssuerItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: CertIssuerId,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
    /// Its name, unique.
    pub ca_name: String,
    /// 0: a Local CA.
    pub ca_type: u8,
    /// `Local`.
    pub ca_type_name: CaTypeName,
    /// The Local CA that signs for it.
    #[schema(value_type = String)]
    pub local_ca_id: LocalCaId,
    /// The profile of its certificates.
    #[schema(value_type = String)]
    pub cert_profile_id: ProfileId,
    /// Whether requests with a DN are taken.
    pub allow_dn_requests: bool,
    /// Whether requests with a CSR are taken.
    pub allow_csr_requests: bool,
    /// Names of the CSR Generators for requests with a DN; empty: all.
    pub allowed_generators: Vec<String>,
    /// PEM of the CA certificates, the issuing CA's first, up to the root.
    pub ca_certs: Vec<String>,
    /// Subject of the issuing CA.
    pub ca_subject_dn: String,
    /// The ids of the teams that may use it; empty: all.
    #[schema(value_type = Vec<String>)]
    pub teams: Vec<TeamId>,
}

impl CertIssuerItem {
    /// The issuer with its CA's subject and chain, and its teams.
    pub fn new(
        issuer: CertIssuer,
        ca_subject_dn: String,
        chain: &[Certificate],
        teams: Vec<TeamId>,
    ) -> Self {
        Self {
            id: issuer.id,
            created: timestamp::with_offset(issuer.created_at),
            created_by: issuer.created_by,
            ca_name: issuer.name,
            ca_type: LOCAL,
            ca_type_name: CaTypeName::Local,
            local_ca_id: issuer.local_ca_id,
            cert_profile_id: issuer.profile_id,
            allow_dn_requests: issuer.allow_dn_requests,
            allow_csr_requests: issuer.allow_csr_requests,
            allowed_generators: issuer.allowed_generators,
            ca_certs: pems(chain),
            ca_subject_dn,
            teams,
        }
    }
}

/// Body of `POST /admin/ca`. Local CA and profile are named by name or id.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewCertIssuerBody {
    /// 1 to 100 characters, unique.
    pub ca_name: String,
    /// 0, also where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub ca_type: Option<u8>,
    /// `Local`, also where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub ca_type_name: Option<CaTypeName>,
    /// Id of the Local CA that signs for it.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub local_ca_id: Option<String>,
    /// Name of the Local CA that signs for it.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub local_ca_name: Option<String>,
    /// Id of the profile of its certificates.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub cert_profile_id: Option<String>,
    /// Name of the profile of its certificates.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub cert_profile_name: Option<String>,
    /// True where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub allow_dn_requests: Option<bool>,
    /// True where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub allow_csr_requests: Option<bool>,
    /// Names of CSR Generators; all where it is left out.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub allowed_generators: Vec<String>,
    /// Ids or names of the teams that may use it; all where it is left out.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub teams: Vec<String>,
}

/// Body of `PUT /admin/ca/{id}`. What is left out stays as it is.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct CertIssuerChangeBody {
    /// 1 to 100 characters, unique.
    #[serde(deserialize_with = "empty_is_absent")]
    pub ca_name: Option<String>,
    /// The CA that signs for it can't be changed: its own id, or nothing.
    #[serde(deserialize_with = "empty_is_absent")]
    pub local_ca_id: Option<String>,
    /// Id of the profile of its certificates.
    #[serde(deserialize_with = "empty_is_absent")]
    pub cert_profile_id: Option<String>,
    /// Name of the profile of its certificates.
    #[serde(deserialize_with = "empty_is_absent")]
    pub cert_profile_name: Option<String>,
    /// Whether requests with a DN are taken.
    #[serde(deserialize_with = "empty_is_absent")]
    pub allow_dn_requests: Option<bool>,
    /// Whether requests with a CSR are taken.
    #[serde(deserialize_with = "empty_is_absent")]
    pub allow_csr_requests: Option<bool>,
    /// Names of CSR Generators; null or empty: all.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub allowed_generators: Option<Option<Vec<String>>>,
    /// Ids or names of all teams that may use it; null or empty: every team.
    #[serde(deserialize_with = "empty_clears_list")]
    #[schema(value_type = Option<Vec<String>>)]
    pub teams: Option<Option<Vec<String>>>,
}

/// Each certificate as PEM.
pub fn pems(chain: &[Certificate]) -> Vec<String> {
    chain.iter().map(|certificate| pem::certificate(&certificate.der)).collect()
}

/// The only `caType` there is.
pub const LOCAL: u8 = 0;
