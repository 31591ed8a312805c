//! The rules of a profile for names. Subject and alternative names are held to the same ones.

use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::profile_values::SubjectAttribute;
use crate::echo::cut;
use crate::json::{empty_is_absent, empty_is_default, empty_is_no_list};
use crate::name::attribute_type::{
    COMMON_NAME, COUNTRY, EMAIL_ADDRESS, ORGANIZATION, ORGANIZATIONAL_UNIT,
};
use crate::name::common_name::{self, CommonName};
use crate::name::{DistinguishedName, SubjectAltName, dns_name, email_address, uri};

/// What names of this profile must look like. An empty list forbids nothing.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SubjectRules {
    /// Attribute types that the subject must have.
    #[serde(deserialize_with = "empty_is_no_list")]
    #[schema(value_type = Vec<String>)]
    pub required: Vec<SubjectAttribute>,
    /// Attribute types that the subject may have; empty: any.
    #[serde(deserialize_with = "empty_is_no_list")]
    #[schema(value_type = Vec<String>)]
    pub allowed: Vec<SubjectAttribute>,
    /// Domains of host names, mail addresses, URIs and user principal names; empty: any.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub allowed_domains: Vec<String>,
    /// Whether names below these domains pass too.
    #[serde(deserialize_with = "empty_is_yes")]
    pub include_sub_domains: bool,
    /// Values of O; empty: any.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub allowed_organizations: Vec<String>,
    /// Values of C; empty: any.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub allowed_countries: Vec<String>,
    /// Whether OU is refused.
    #[serde(deserialize_with = "empty_is_default")]
    pub deny_organizational_units: bool,
}

impl Default for SubjectRules {
    fn default() -> Self {
        Self {
            required: Vec::new(),
            allowed: Vec::new(),
            allowed_domains: Vec::new(),
            include_sub_domains: true,
            allowed_organizations: Vec::new(),
            allowed_countries: Vec::new(),
            deny_organizational_units: false,
        }
    }
}

fn empty_is_yes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    empty_is_absent(deserializer).map(|given| given.unwrap_or(true))
}

/// Which rule names break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectRuleBroken {
    /// An attribute is missing.
    #[error("the profile requires {0} in the subject")]
    Required(SubjectAttribute),
    /// An attribute that may not be there.
    #[error("the profile does not allow {0} in the subject")]
    NotAllowed(SubjectAttribute),
    /// OU.
    #[error("the profile does not allow OU in the subject")]
    OrganizationalUnit,
    /// A value outside the list.
    #[error("the profile does not allow {attribute}={}; it allows {}", cut(value), allowed.join(", "))]
    Value {
        /// O or C.
        attribute: SubjectAttribute,
        /// The value.
        value: String,
        /// What would pass.
        allowed: Vec<String>,
    },
    /// A host outside the domains.
    #[error("the profile does not allow {}; it allows names in {}", cut(name), domains.join(", "))]
    Domain {
        /// As the record would show it.
        name: String,
        /// What would pass.
        domains: Vec<String>,
    },
    /// A CN that may be taken for a host outside the domains.
    #[error(
        "CN={} is no host name and could be read as one; the profile allows host names in {}, and \
         names without a dot inside a word",
        cut(name),
        domains.join(", ")
    )]
    NearlyHost {
        /// The CN.
        name: String,
        /// What would pass.
        domains: Vec<String>,
    },
}

impl SubjectRules {
    /// Applies the rules to a subject and its alternative names.
    ///
    /// # Errors
    ///
    /// The first rule that is broken.
    pub fn check(
        &self,
        subject: &DistinguishedName,
        names: &[SubjectAltName],
    ) -> Result<(), SubjectRuleBroken> {
        let has = |wanted: &SubjectAttribute| subject.attributes().any(|a| a.type_id == wanted.0);
        if let Some(missing) = self.required.iter().find(|wanted| !has(wanted)) {
            return Err(SubjectRuleBroken::Required(*missing));
        }
        for type_id in subject.attributes().map(|attribute| SubjectAttribute(attribute.type_id)) {
            if self.deny_organizational_units && type_id.0 == ORGANIZATIONAL_UNIT {
                return Err(SubjectRuleBroken::OrganizationalUnit);
            }
            if !self.allowed.is_empty() && !self.allowed.contains(&type_id) {
                return Err(SubjectRuleBroken::NotAllowed(type_id));
            }
        }
        for (type_id, allowed) in
            [(ORGANIZATION, &self.allowed_organizations), (COUNTRY, &self.allowed_countries)]
        {
            let passes = |value: &String| allowed.iter().any(|a| a.eq_ignore_ascii_case(value));
            let outside = subject.texts(type_id).find(|value| !passes(value));
            if let Some(value) = outside.filter(|_| !allowed.is_empty()) {
                let attribute = SubjectAttribute(type_id);
                return Err(SubjectRuleBroken::Value {
                    attribute,
                    value,
                    allowed: allowed.clone(),
                });
            }
        }
        self.check_domains(subject, names)
    }

    fn check_domains(
        &self,
        subject: &DistinguishedName,
        names: &[SubjectAltName],
    ) -> Result<(), SubjectRuleBroken> {
        if self.allowed_domains.is_empty() {
            return Ok(());
        }
        let mut common_names = Vec::new();
        for name in subject.texts(COMMON_NAME) {
            match common_name::meant(&name) {
                CommonName::Host(host) | CommonName::MailboxAt(host) => {
                    common_names.push((format!("CN={name}"), host));
                }
                // What no client can be sure about can't be in a domain.
                CommonName::NearlyHost => {
                    let domains = self.allowed_domains.clone();
                    return Err(SubjectRuleBroken::NearlyHost { name, domains });
                }
                // An address is in no domain and is held to the kinds of names alone.
                CommonName::Address(_) | CommonName::Other => {}
            }
        }
        let addresses = subject
            .texts(EMAIL_ADDRESS)
            .map(|address| (format!("emailAddress={address}"), email_host(&address)));
        let alternatives =
            names.iter().filter_map(|name| host(name).map(|host| (name.to_string(), host)));
        for (name, host) in common_names.into_iter().chain(addresses).chain(alternatives) {
            let within =
                |domain: &String| dns_name::is_within(&host, domain, self.include_sub_domains);
            if !self.allowed_domains.iter().any(within) {
                return Err(SubjectRuleBroken::Domain {
                    name,
                    domains: self.allowed_domains.clone(),
                });
            }
        }
        Ok(())
    }
}

fn email_host(address: &str) -> String {
    email_address::host(address).to_owned()
}

fn host(name: &SubjectAltName) -> Option<String> {
    match name {
        SubjectAltName::DnsName(name) => Some(name.clone()),
        SubjectAltName::Rfc822Name(address) | SubjectAltName::UserPrincipalName(address) => {
            Some(email_host(address))
        }
        SubjectAltName::Uri(uri) => uri::host(uri).map(str::to_owned),
        _ => None,
    }
}
