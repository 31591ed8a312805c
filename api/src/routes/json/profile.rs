//! Profiles.

use chancery_shared::id::ProfileId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::certificate::{CertificatePolicy, ExtendedKeyUsage, KeyUsage};
use crate::inventory::profile_definition::{HUNDRED_YEARS, ProfileDefinition};
use crate::inventory::profile_values::{AllowedKeyAlgorithm, AllowedSanType, CustomExtension};
use crate::inventory::subject_rules::SubjectRules;
use crate::json::{Whole, empty_is_absent, empty_is_no_list};
use crate::store::profile::Profile;
use crate::timestamp;

/// A profile.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Profile)]
pub struct ProfileItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: ProfileId,
    /// When it was made.
    pub created: String,
    /// Who made it.
    pub created_by: String,
    /// Its name, unique.
    pub name: String,
    /// What its certificates contain.
    #[serde(flatten)]
    pub definition: ProfileDefinition,
}

impl From<Profile> for ProfileItem {
    fn from(profile: Profile) -> Self {
        Self {
            id: profile.id,
            created: timestamp::with_offset(profile.created_at),
            created_by: profile.created_by,
            name: profile.name,
            definition: profile.definition,
        }
    }
}

/// Body of `POST /admin/profiles`, and of `PUT /admin/profiles/{id}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NewProfile {
    /// 1 to 100 characters, unique.
    pub name: String,
    /// From notBefore to notAfter, both inclusive.
    #[schema(value_type = u32)]
    pub lifetime_in_minutes: Whole<1, HUNDRED_YEARS>,
    /// Usages of the key; at least one.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    #[schema(value_type = Vec<String>)]
    pub key_usages: Vec<KeyUsage>,
    /// By name or object identifier; at least one.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    #[schema(value_type = Vec<String>)]
    pub enhanced_key_usages: Vec<ExtendedKeyUsage>,
    /// True where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub include_sans_from_csr: Option<bool>,
    /// False where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub add_cn_as_dns_san: Option<bool>,
    /// False where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub allow_wildcards: Option<bool>,
    /// Every kind where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub allowed_san_types: Option<Vec<AllowedSanType>>,
    /// Every kind where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<Vec<String>>)]
    pub allowed_key_algorithms: Option<Vec<AllowedKeyAlgorithm>>,
    /// For CN and alternative names alike; no rule where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub subject_rules: Option<SubjectRules>,
    /// `<oid>`, `CPS|<oid>|<uri>` or `User Notice|<oid>|<text>`.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    #[schema(value_type = Vec<String>)]
    pub policies: Vec<CertificatePolicy>,
    /// Extensions that are put in as they are.
    #[serde(default, deserialize_with = "empty_is_no_list")]
    pub custom_extensions: Vec<CustomExtension>,
    /// False where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub ocsp_no_check: Option<bool>,
    /// 0 where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    #[schema(value_type = Option<u32>)]
    pub backdate_minutes: Option<Whole<0, HUNDRED_YEARS>>,
}

impl NewProfile {
    /// Name and contents; what was left out has its default.
    pub fn into_parts(self) -> (String, ProfileDefinition) {
        let definition = ProfileDefinition {
            lifetime_in_minutes: self.lifetime_in_minutes.number(),
            key_usages: self.key_usages,
            enhanced_key_usages: self.enhanced_key_usages,
            include_sans_from_csr: self.include_sans_from_csr.unwrap_or(true),
            add_cn_as_dns_san: self.add_cn_as_dns_san.unwrap_or(false),
            allow_wildcards: self.allow_wildcards.unwrap_or(false),
            allowed_san_types: self.allowed_san_types.unwrap_or(AllowedSanType::ALL.into()),
            allowed_key_algorithms: self
                .allowed_key_algorithms
                .unwrap_or(AllowedKeyAlgorithm::EVERY.into()),
            subject_rules: self.subject_rules.unwrap_or_default(),
            policies: self.policies,
            custom_extensions: self.custom_extensions,
            ocsp_no_check: self.ocsp_no_check.unwrap_or(false),
            backdate_minutes: self.backdate_minutes.map_or(0, Whole::number),
        };
        (self.name, definition)
    }
}
