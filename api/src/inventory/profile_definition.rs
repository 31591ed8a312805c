//! What the certificates of a profile contain, as the administrator writes it down.
//!
//! Stored as JSON: a change of a field is a migration.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::keep_first;
use super::profile_values::{AllowedKeyAlgorithm, AllowedSanType, CustomExtension};
use super::subject_rules::SubjectRules;
use crate::certificate::{CertificatePolicy, ExtendedKeyUsage, KeyUsage};

/// What one kind of certificate contains.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the interface has these flags")]
pub struct ProfileDefinition {
    /// From notBefore to notAfter, both inclusive.
    pub lifetime_in_minutes: u32,
    /// Usages of the key; keyEncipherment and dataEncipherment are for RSA keys, keyAgreement for
    /// EC keys, and are left out for others.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub key_usages: Vec<KeyUsage>,
    /// By name or object identifier.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub enhanced_key_usages: Vec<ExtendedKeyUsage>,
    /// Whether the alternative names of a CSR come into the certificate.
    #[serde(default = "yes")]
    pub include_sans_from_csr: bool,
    /// Whether the CN becomes an alternative name too.
    #[serde(default)]
    pub add_cn_as_dns_san: bool,
    /// Whether names such as `*.example.org` pass.
    #[serde(default)]
    pub allow_wildcards: bool,
    /// Kinds of alternative names; absent: every kind.
    #[serde(default = "every_san_type")]
    pub allowed_san_types: Vec<AllowedSanType>,
    /// Kinds of keys; an RSA entry allows longer ones too. Absent: every kind.
    #[serde(default = "every_key_algorithm")]
    #[schema(value_type = Vec<String>)]
    pub allowed_key_algorithms: Vec<AllowedKeyAlgorithm>,
    /// For CN and alternative names alike.
    #[serde(default)]
    pub subject_rules: SubjectRules,
    /// `<oid>`, `CPS|<oid>|<uri>` or `User Notice|<oid>|<text>`.
    #[serde(default)]
    #[schema(value_type = Vec<String>)]
    pub policies: Vec<CertificatePolicy>,
    /// Extensions that are put in as they are.
    #[serde(default)]
    pub custom_extensions: Vec<CustomExtension>,
    /// Whether the certificate says that an OCSP responder's need not be checked (RFC 6960,
    /// section 4.2.2.2.1).
    #[serde(default)]
    pub ocsp_no_check: bool,
    /// How far notBefore lies in the past, for clients whose clocks are slow.
    #[serde(default)]
    pub backdate_minutes: u32,
}

/// Minutes of a day.
pub(super) const MINUTES_A_DAY: u32 = 24 * 60;

/// No certificate is valid for more minutes.
pub const HUNDRED_YEARS: u32 = 36_525 * MINUTES_A_DAY;

impl ProfileDefinition {
    /// `TLS Server and Client`, the profile of the first start.
    pub fn first() -> Self {
        Self {
            lifetime_in_minutes: 397 * MINUTES_A_DAY,
            key_usages: vec![KeyUsage::DigitalSignature, KeyUsage::KeyEncipherment],
            enhanced_key_usages: vec![ExtendedKeyUsage::SERVER_AUTH, ExtendedKeyUsage::CLIENT_AUTH],
            include_sans_from_csr: true,
            add_cn_as_dns_san: false,
            allow_wildcards: true,
            allowed_san_types: every_san_type(),
            allowed_key_algorithms: every_key_algorithm(),
            subject_rules: SubjectRules::default(),
            policies: Vec::new(),
            custom_extensions: Vec::new(),
            ocsp_no_check: false,
            backdate_minutes: 5,
        }
    }

    /// The same with each element of a list once: a certificate may name no usage twice.
    #[must_use]
    pub fn without_duplicates(mut self) -> Self {
        let rules = &mut self.subject_rules;
        for texts in [
            &mut rules.allowed_domains,
            &mut rules.allowed_organizations,
            &mut rules.allowed_countries,
        ] {
            keep_first(texts);
        }
        keep_first(&mut rules.required);
        keep_first(&mut rules.allowed);
        keep_first(&mut self.key_usages);
        keep_first(&mut self.enhanced_key_usages);
        keep_first(&mut self.allowed_san_types);
        keep_first(&mut self.allowed_key_algorithms);
        keep_first(&mut self.policies);
        keep_first(&mut self.custom_extensions);
        self
    }
}

fn yes() -> bool {
    true
}

fn every_san_type() -> Vec<AllowedSanType> {
    AllowedSanType::ALL.into()
}

fn every_key_algorithm() -> Vec<AllowedKeyAlgorithm> {
    AllowedKeyAlgorithm::EVERY.into()
}

#[cfg(test)]
mod tests;
