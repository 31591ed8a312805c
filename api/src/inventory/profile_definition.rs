//! What the certificates of a profile contain, as the administrator writes it down.
//!
//! Stored as JSON: a change of a field is a migration.

use der::asn1::ObjectIdentifier;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::profile_values::{AllowedKeyAlgorithm, AllowedSanType, CustomExtension};
use super::subject_rules::SubjectRules;
use crate::asn1::Tlv;
use crate::certificate::{CertificatePolicy, ExtendedKeyUsage, KeyUsage};
use crate::echo::cut;
use crate::name::dns_name;

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

/// What is wrong with a profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileProblem {
    /// A life of nothing, or one that is over before it begins.
    #[error("lifetimeInMinutes must be more than backdateMinutes and at most 100 years")]
    Lifetime,
    /// No usage, or one that is a CA's.
    #[error("keyUsages must name at least one usage; Certificate Sign and CRL Sign are for CAs")]
    KeyUsages,
    /// No purpose, which would mean every one, or anyExtendedKeyUsage, which says so.
    #[error("enhancedKeyUsages must name at least one usage, and not Any Extended Key Usage")]
    EnhancedKeyUsages,
    /// A list that lets nothing pass.
    #[error("allowedKeyAlgorithms must name at least one")]
    KeyAlgorithms,
    /// Not a domain.
    #[error("subjectRules.allowedDomains: {:?} is no domain; write it as example.org", cut(.0))]
    Domain(String),
    /// One extension twice, one that the service makes itself, or no DER.
    #[error("customExtensions: {:?} is not an extension of its own with one DER value in base64", cut(.0))]
    CustomExtension(String),
    /// ocspNoCheck where it has no meaning.
    #[error("ocspNoCheck is only for profiles with OCSP Signing")]
    OcspNoCheck,
}

impl ProfileProblem {
    /// The field at fault.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Lifetime => "lifetimeInMinutes",
            Self::KeyUsages => "keyUsages",
            Self::EnhancedKeyUsages => "enhancedKeyUsages",
            Self::KeyAlgorithms => "allowedKeyAlgorithms",
            Self::Domain(_) => "subjectRules",
            Self::CustomExtension(_) => "customExtensions",
            Self::OcspNoCheck => "ocspNoCheck",
        }
    }
}

/// Minutes of a day.
pub(super) const MINUTES_A_DAY: u32 = 24 * 60;

/// Extensions that the service makes itself: `2.5.29.*` of RFC 5280 and these.
const OWN_EXTENSIONS: [&str; 2] = ["1.3.6.1.5.5.7.1.1", "1.3.6.1.5.5.7.48.1.5"];

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

    /// Checks that certificates can be made by this profile.
    ///
    /// # Errors
    ///
    /// The first problem, by its field.
    pub fn check(&self) -> Result<(), ProfileProblem> {
        let hundred_years = 36_525 * MINUTES_A_DAY;
        if self.lifetime_in_minutes <= self.backdate_minutes
            || self.lifetime_in_minutes > hundred_years
        {
            return Err(ProfileProblem::Lifetime);
        }
        let of_a_ca = [KeyUsage::CertificateSign, KeyUsage::CrlSign];
        if self.key_usages.is_empty() || self.key_usages.iter().any(|u| of_a_ca.contains(u)) {
            return Err(ProfileProblem::KeyUsages);
        }
        if self.enhanced_key_usages.is_empty()
            || self.enhanced_key_usages.contains(&ExtendedKeyUsage::ANY)
        {
            return Err(ProfileProblem::EnhancedKeyUsages);
        }
        if self.allowed_key_algorithms.is_empty() {
            return Err(ProfileProblem::KeyAlgorithms);
        }
        let is_domain = |d: &&String| !d.starts_with('*') && dns_name::check(d).is_ok();
        if let Some(domain) = self.subject_rules.allowed_domains.iter().find(|d| !is_domain(d)) {
            return Err(ProfileProblem::Domain(domain.clone()));
        }
        self.check_custom_extensions()?;
        if self.ocsp_no_check && !self.enhanced_key_usages.contains(&ExtendedKeyUsage::OCSP_SIGNING)
        {
            return Err(ProfileProblem::OcspNoCheck);
        }
        Ok(())
    }

    fn check_custom_extensions(&self) -> Result<(), ProfileProblem> {
        for (i, extension) in self.custom_extensions.iter().enumerate() {
            let oid = &extension.oid;
            let twice = self.custom_extensions.iter().take(i).any(|other| other.oid == *oid);
            let own = OWN_EXTENSIONS.contains(&oid.as_str()) || oid.starts_with("2.5.29.");
            let sound =
                ObjectIdentifier::new(oid).is_ok() && Tlv::read(extension.value.as_slice()).is_ok();
            if twice || own || !sound {
                return Err(ProfileProblem::CustomExtension(oid.clone()));
            }
        }
        Ok(())
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
