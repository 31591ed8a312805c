//! From what a request asks to the names that its certificate gets, by the rules of the profile.

use std::net::IpAddr;

use super::profile_definition::ProfileDefinition;
use super::profile_values::{AllowedKeyAlgorithm, AllowedSanType};
use super::subject_rules::SubjectRuleBroken;
use crate::echo::cut;
use crate::issuance::subject_key::SubjectKeyKind;
use crate::name::attribute_type::COMMON_NAME;
use crate::name::common_name::{self, CommonName};
use crate::name::{DistinguishedName, SubjectAltName, dns_name, subject_alt_name};

/// Which rule of the profile a request breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProfileViolation {
    /// A kind of key that is not on the list.
    #[error("the profile does not allow this kind of key; it allows {}", list(allowed))]
    KeyAlgorithm {
        /// What would pass.
        allowed: Vec<AllowedKeyAlgorithm>,
    },
    /// A kind of name that is not on the list.
    #[error("the profile does not allow {}; names of this type are not allowed", cut(name))]
    SanType {
        /// As the record would show it, or the CN.
        name: String,
    },
    /// A wildcard.
    #[error("the profile does not allow the wildcard name {}", cut(.0))]
    Wildcard(String),
    /// `addCnAsDnsSan` and a CN that is neither host name nor IP address.
    #[error("the profile adds the CN as a DNS name, but {:?} is no host name", cut(.0))]
    CommonNameIsNoHost(String),
    /// Neither subject nor alternative name.
    #[error("the certificate would have no name at all; give a subject or an alternative name")]
    NoName,
    /// One of the rules for names.
    #[error(transparent)]
    SubjectRule(#[from] SubjectRuleBroken),
}

impl ProfileViolation {
    /// The rule that is broken: the field of the profile that has it.
    pub fn rule(&self) -> &'static str {
        match self {
            Self::KeyAlgorithm { .. } => "allowedKeyAlgorithms",
            Self::SanType { .. } => "allowedSanTypes",
            Self::Wildcard(_) => "allowWildcards",
            Self::CommonNameIsNoHost(_) => "addCnAsDnsSan",
            // No profile can allow it: RFC 5280, section 4.1.2.6.
            Self::NoName => "subject",
            Self::SubjectRule(_) => "subjectRules",
        }
    }
}

fn list(keys: &[AllowedKeyAlgorithm]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl ProfileDefinition {
    /// Whether the profile lets this kind of key pass.
    ///
    /// # Errors
    ///
    /// [`ProfileViolation::KeyAlgorithm`].
    pub fn check_key(&self, key: SubjectKeyKind) -> Result<(), ProfileViolation> {
        use chancery_shared::wire::policy::SubjectKey::{Rsa2048, Rsa3072, Rsa4096};
        let key = key.subject_key();
        let allows = |allowed: &AllowedKeyAlgorithm| match (allowed.0, key) {
            (Rsa2048, Rsa2048 | Rsa3072 | Rsa4096) | (Rsa3072, Rsa3072 | Rsa4096) => true,
            (allowed, key) => allowed == key,
        };
        if self.allowed_key_algorithms.iter().any(allows) {
            return Ok(());
        }
        Err(ProfileViolation::KeyAlgorithm { allowed: self.allowed_key_algorithms.clone() })
    }

    /// The alternative names of the certificate: those of the CSR where the profile takes them,
    /// those of the body, and the CN where the profile adds it. Duplicates collapse.
    ///
    /// # Errors
    ///
    /// The first rule that subject or names break.
    pub fn names(
        &self,
        subject: &DistinguishedName,
        from_csr: &[SubjectAltName],
        from_body: &[SubjectAltName],
    ) -> Result<Vec<SubjectAltName>, ProfileViolation> {
        let mut names = Vec::new();
        if self.include_sans_from_csr {
            names.extend_from_slice(from_csr);
        }
        names.extend_from_slice(from_body);
        if self.add_cn_as_dns_san {
            names.extend(common_name_as_san(subject)?);
        }
        let names = subject_alt_name::collapse(names);
        if names.is_empty() && subject.is_empty() {
            return Err(ProfileViolation::NoName);
        }
        self.check_kinds(subject, &names)?;
        self.subject_rules.check(subject, &names)?;
        Ok(names)
    }

    /// A CN that looks like a host or an address is held to the rules for such names.
    fn check_kinds(
        &self,
        subject: &DistinguishedName,
        names: &[SubjectAltName],
    ) -> Result<(), ProfileViolation> {
        let common_names = subject.texts(COMMON_NAME).filter_map(|name| {
            let (kind, wildcard) = match common_name::meant(&name) {
                CommonName::Address(_) => (AllowedSanType::Ip, false),
                CommonName::Host(host) => (AllowedSanType::Dns, host.starts_with("*.")),
                CommonName::MailboxAt(_) | CommonName::NearlyHost | CommonName::Other => {
                    return None;
                }
            };
            Some((format!("CN={name}"), kind, wildcard))
        });
        let names = names.iter().map(|name| {
            let wildcard = matches!(name, SubjectAltName::DnsName(name) if name.starts_with('*'));
            (name.to_string(), AllowedSanType::of(name), wildcard)
        });
        for (name, kind, wildcard) in common_names.chain(names) {
            if !self.allowed_san_types.contains(&kind) {
                return Err(ProfileViolation::SanType { name });
            }
            if wildcard && !self.allow_wildcards {
                return Err(ProfileViolation::Wildcard(name));
            }
        }
        Ok(())
    }
}

/// The CN as a name: an address where it is one, else a host.
pub(crate) fn common_name_as_san(
    subject: &DistinguishedName,
) -> Result<Option<SubjectAltName>, ProfileViolation> {
    let Some(name) = subject.common_name() else { return Ok(None) };
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(Some(SubjectAltName::IpAddress(address)));
    }
    match dns_name::to_ascii(&name) {
        Ok(host) => Ok(Some(SubjectAltName::DnsName(host))),
        Err(_) => Err(ProfileViolation::CommonNameIsNoHost(name)),
    }
}
