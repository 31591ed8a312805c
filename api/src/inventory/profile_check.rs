//! Whether certificates can be made by a profile at all, whatever the request and the CA.

use der::Decode as _;
use der::asn1::ObjectIdentifier;

use super::profile_definition::{HUNDRED_YEARS, ProfileDefinition};
use super::profile_values::SubjectAttribute;
use crate::asn1::Tlv;
use crate::certificate::{ExtendedKeyUsage, KeyUsage};
use crate::echo::cut;
use crate::issuance::end_entity::fits;
use crate::issuance::subject_key::SubjectKeyKind;
use crate::name::attribute_type::ORGANIZATIONAL_UNIT;
use crate::name::dns_name;

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
    /// RFC 5280, section 4.2.1.3.
    #[error("keyUsages: Encipher Only and Decipher Only mean something beside Key Agreement alone")]
    EncipherOnly,
    /// RFC 3161, section 2.3.
    #[error("enhancedKeyUsages: Time Stamping must stand alone")]
    TimeStamping,
    /// Every usage is for kinds of keys that are not allowed.
    #[error("keyUsages: none of them is for a key that allowedKeyAlgorithms lets pass")]
    NoKeyFits,
    /// RFC 5280, section 4.2.1.12.
    #[error("keyUsages: none of them serves {0} with a key that allowedKeyAlgorithms lets pass")]
    Unserved(ExtendedKeyUsage),
    /// A list that lets nothing pass.
    #[error("allowedKeyAlgorithms must name at least one")]
    KeyAlgorithms,
    /// Not a domain.
    #[error("subjectRules.allowedDomains: {:?} is no domain; write it as example.org", cut(.0))]
    Domain(String),
    /// Required, and not allowed.
    #[error("subjectRules.required: {0} may not stand in the subject by the other rules")]
    Required(SubjectAttribute),
    /// Not a country.
    #[error("subjectRules.allowedCountries: {:?} is no country; write two letters", cut(.0))]
    Country(String),
    /// Longer than the subject may hold.
    #[error("subjectRules.allowedOrganizations: {:?} has more than 64 characters", cut(.0))]
    Organization(String),
    /// One extension twice, one that the service makes itself, or no DER.
    #[error("customExtensions: {:?} is not an extension of its own with one DER value in base64", cut(.0))]
    CustomExtension(String),
    /// RFC 7633, section 4.1.
    #[error("customExtensions: TLS feature must list features, and is never critical")]
    TlsFeature,
    /// ocspNoCheck where it has no meaning.
    #[error("ocspNoCheck is only for profiles with OCSP Signing")]
    OcspNoCheck,
}

impl ProfileProblem {
    /// The field at fault.
    pub fn field(&self) -> &'static str {
        match self {
            Self::Lifetime => "lifetimeInMinutes",
            Self::KeyUsages | Self::EncipherOnly | Self::NoKeyFits | Self::Unserved(_) => {
                "keyUsages"
            }
            Self::EnhancedKeyUsages | Self::TimeStamping => "enhancedKeyUsages",
            Self::KeyAlgorithms => "allowedKeyAlgorithms",
            Self::Required(_) | Self::Domain(_) | Self::Country(_) | Self::Organization(_) => {
                "subjectRules"
            }
            Self::CustomExtension(_) | Self::TlsFeature => "customExtensions",
            Self::OcspNoCheck => "ocspNoCheck",
        }
    }
}

/// Extensions that the service makes itself: `2.5.29.*` of RFC 5280 and these.
const OWN_EXTENSIONS: [&str; 2] = ["1.3.6.1.5.5.7.1.1", "1.3.6.1.5.5.7.48.1.5"];

/// TLS feature (RFC 7633), which the signer reads by itself.
pub(super) const TLS_FEATURE: &str = "1.3.6.1.5.5.7.1.24";

impl ProfileDefinition {
    /// Checks that certificates can be made by this profile.
    ///
    /// # Errors
    ///
    /// The first problem, by its field.
    pub fn check(&self) -> Result<(), ProfileProblem> {
        if self.lifetime_in_minutes <= self.backdate_minutes
            || self.lifetime_in_minutes > HUNDRED_YEARS
        {
            return Err(ProfileProblem::Lifetime);
        }
        self.check_usages()?;
        self.check_subject_rules()?;
        self.check_custom_extensions()?;
        if self.ocsp_no_check && !self.enhanced_key_usages.contains(&ExtendedKeyUsage::OCSP_SIGNING)
        {
            return Err(ProfileProblem::OcspNoCheck);
        }
        Ok(())
    }

    fn check_usages(&self) -> Result<(), ProfileProblem> {
        let of_a_ca = [KeyUsage::CertificateSign, KeyUsage::CrlSign];
        let usages = &self.key_usages;
        if usages.is_empty() || usages.iter().any(|usage| of_a_ca.contains(usage)) {
            return Err(ProfileProblem::KeyUsages);
        }
        let only = [KeyUsage::EncipherOnly, KeyUsage::DecipherOnly];
        if usages.iter().any(|usage| only.contains(usage))
            && !usages.contains(&KeyUsage::KeyAgreement)
        {
            return Err(ProfileProblem::EncipherOnly);
        }
        let purposes = &self.enhanced_key_usages;
        if purposes.is_empty() || purposes.contains(&ExtendedKeyUsage::ANY) {
            return Err(ProfileProblem::EnhancedKeyUsages);
        }
        if purposes.len() > 1 && purposes.contains(&ExtendedKeyUsage::TIME_STAMPING) {
            return Err(ProfileProblem::TimeStamping);
        }
        if self.allowed_key_algorithms.is_empty() {
            return Err(ProfileProblem::KeyAlgorithms);
        }
        // Usages that don't fit a key are left out; what is left must serve every purpose.
        let unserved = |key: SubjectKeyKind| {
            let left = || usages.iter().copied().filter(|usage| fits(*usage, key));
            if left().next().is_none() {
                return Some(ProfileProblem::NoKeyFits);
            }
            let is_served = |purpose: &ExtendedKeyUsage| {
                purpose.served_by().is_none_or(|serving| left().any(|u| serving.contains(&u)))
            };
            let purpose = purposes.iter().find(|purpose| !is_served(purpose))?;
            Some(ProfileProblem::Unserved(*purpose))
        };
        let mut problems = self.allowed_key_algorithms.iter().map(|key| unserved(key.kind()));
        // Good for some keys is good enough.
        match problems.next() {
            Some(Some(problem)) if problems.all(|problem| problem.is_some()) => Err(problem),
            _ => Ok(()),
        }
    }

    fn check_subject_rules(&self) -> Result<(), ProfileProblem> {
        let rules = &self.subject_rules;
        let may_stand = |attribute: &SubjectAttribute| {
            (rules.allowed.is_empty() || rules.allowed.contains(attribute))
                && !(rules.deny_organizational_units && attribute.0 == ORGANIZATIONAL_UNIT)
        };
        if let Some(attribute) = rules.required.iter().find(|attribute| !may_stand(attribute)) {
            return Err(ProfileProblem::Required(*attribute));
        }
        let is_domain = |d: &&String| !d.starts_with('*') && dns_name::check(d).is_ok();
        if let Some(domain) = rules.allowed_domains.iter().find(|d| !is_domain(d)) {
            return Err(ProfileProblem::Domain(domain.clone()));
        }
        let is_country = |c: &&String| c.len() == 2 && c.bytes().all(|b| b.is_ascii_alphabetic());
        if let Some(country) = rules.allowed_countries.iter().find(|c| !is_country(c)) {
            return Err(ProfileProblem::Country(country.clone()));
        }
        let is_organization = |o: &&String| o.chars().count() <= 64;
        if let Some(name) = rules.allowed_organizations.iter().find(|o| !is_organization(o)) {
            return Err(ProfileProblem::Organization(name.clone()));
        }
        Ok(())
    }

    fn check_custom_extensions(&self) -> Result<(), ProfileProblem> {
        for (i, extension) in self.custom_extensions.iter().enumerate() {
            let (oid, value) = (&extension.oid, extension.value.as_slice());
            let twice = self.custom_extensions.iter().take(i).any(|other| other.oid == *oid);
            let own = OWN_EXTENSIONS.contains(&oid.as_str()) || oid.starts_with("2.5.29.");
            let sound = ObjectIdentifier::new(oid).is_ok() && Tlv::read(value).is_ok();
            if twice || own || !sound {
                return Err(ProfileProblem::CustomExtension(oid.clone()));
            }
            let lists_features =
                || Vec::<u16>::from_der(value).is_ok_and(|features| !features.is_empty());
            if oid == TLS_FEATURE && (extension.critical || !lists_features()) {
                return Err(ProfileProblem::TlsFeature);
            }
        }
        Ok(())
    }
}
