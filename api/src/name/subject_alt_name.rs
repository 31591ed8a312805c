//! One subject alternative name: as typed, as shown, and as DER.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;

use chancery_shared::hexadecimal;
use chancery_shared::wire::policy::SanType;
use der::asn1::ObjectIdentifier;

use super::distinguished_name::DistinguishedName;
use super::dns_name::{self, DnsNameProblem};
use super::email_address::{self, NotAnAddress};
use super::subject_rules::{self, NameProblem};
use super::uri::{self, UriProblem};
use crate::echo::cut;

/// A GeneralName (RFC 5280, section 4.2.1.6) of a kind that certificates here may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectAltName {
    /// dNSName.
    DnsName(String),
    /// rfc822Name.
    Rfc822Name(String),
    /// uniformResourceIdentifier.
    Uri(String),
    /// iPAddress.
    IpAddress(IpAddr),
    /// otherName with Microsoft's user principal name, a UTF8String.
    UserPrincipalName(String),
    /// otherName of any other type.
    OtherName {
        /// What kind of name.
        type_id: ObjectIdentifier,
        /// DER of the value inside `[0]`.
        value: Vec<u8>,
    },
    /// directoryName.
    DirectoryName(DistinguishedName),
    /// registeredID.
    RegisteredId(ObjectIdentifier),
}

/// Why a text is no subject alternative name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectAltNameProblem {
    /// No `TYPE:` in front.
    #[error("it has no type; write DNS:, EMAIL:, IP: or URI: in front")]
    NoType,
    /// A type that requests can't name.
    #[error("the type {0:?} is not known; write DNS, EMAIL, IP or URI")]
    UnknownType(String),
    /// Not a host name.
    #[error("{0}")]
    DnsName(DnsNameProblem),
    /// Not a mail address.
    #[error("{0}")]
    Rfc822Name(NotAnAddress),
    /// Not a URI.
    #[error("{0}")]
    Uri(UriProblem),
    /// Not an IP address.
    #[error("it is not an IPv4 or IPv6 address; write it without prefix length, port or zone")]
    IpAddress,
    /// Not a distinguished name.
    #[error("{0}")]
    DirectoryName(NameProblem),
    /// A user principal name that is empty or holds what no name may.
    #[error("it is not a user principal name")]
    UserPrincipalName,
}

impl SubjectAltName {
    /// Reads the `TYPE:value` of a request: DNS, EMAIL, IP or URI, in any case. Blanks around
    /// type and value don't count.
    ///
    /// # Errors
    ///
    /// Says what is wrong; a missing type is never guessed.
    pub fn parse(typed: &str) -> Result<Self, SubjectAltNameProblem> {
        let (kind, value) = typed.split_once(':').ok_or(SubjectAltNameProblem::NoType)?;
        let (kind, value) = (kind.trim_matches(' '), value.trim_matches(' '));
        let name = match kind.to_ascii_uppercase().as_str() {
            "DNS" => {
                Self::DnsName(dns_name::to_ascii(value).map_err(SubjectAltNameProblem::DnsName)?)
            }
            "EMAIL" => Self::Rfc822Name(value.to_owned()),
            "IP" => Self::IpAddress(value.parse().map_err(|_| SubjectAltNameProblem::IpAddress)?),
            "URI" => Self::Uri(value.to_owned()),
            _ => return Err(SubjectAltNameProblem::UnknownType(cut(kind))),
        };
        name.check()?;
        Ok(name)
    }

    /// Checks what a name must obey to stand in a certificate.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), SubjectAltNameProblem> {
        use SubjectAltNameProblem as P;
        match self {
            Self::DnsName(name) => dns_name::check(name).map_err(P::DnsName),
            Self::Rfc822Name(address) => email_address::check(address).map_err(P::Rfc822Name),
            Self::Uri(uri) => uri::check(uri).map_err(P::Uri),
            Self::UserPrincipalName(name) => {
                let sound = !name.is_empty()
                    && super::directory_string::forbidden_character(name).is_none();
                if sound { Ok(()) } else { Err(P::UserPrincipalName) }
            }
            Self::DirectoryName(name) if name.is_empty() => {
                Err(P::DirectoryName(NameProblem::EmptyRdn))
            }
            Self::DirectoryName(name) => subject_rules::check(name).map_err(P::DirectoryName),
            Self::IpAddress(_) | Self::OtherName { .. } | Self::RegisteredId(_) => Ok(()),
        }
    }

    /// The kind of GeneralName.
    pub fn kind(&self) -> SanType {
        match self {
            Self::DnsName(_) => SanType::Dns,
            Self::Rfc822Name(_) => SanType::Email,
            Self::Uri(_) => SanType::Uri,
            Self::IpAddress(_) => SanType::Ip,
            Self::UserPrincipalName(_) | Self::OtherName { .. } => SanType::OtherName,
            Self::DirectoryName(_) => SanType::DirectoryName,
            Self::RegisteredId(_) => SanType::RegisteredId,
        }
    }

    /// What is equal for names that say the same: hosts in any case.
    pub(crate) fn key(&self) -> String {
        match self {
            Self::DnsName(name) => format!("DNS:{}", name.to_ascii_lowercase()),
            Self::Rfc822Name(address) => {
                let (local, host) = address.rsplit_once('@').unwrap_or((address, ""));
                format!("EMAIL:{local}@{}", host.to_ascii_lowercase())
            }
            _ => self.to_string(),
        }
    }
}

/// Drops each name that an earlier one says already.
pub fn collapse(mut names: Vec<SubjectAltName>) -> Vec<SubjectAltName> {
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(name.key()));
    names
}

/// The element of the record's `subjectAlternativeNames`.
impl fmt::Display for SubjectAltName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DnsName(name) => write!(f, "DNS:{name}"),
            Self::Rfc822Name(address) => write!(f, "EMAIL:{address}"),
            Self::Uri(uri) => write!(f, "URI:{uri}"),
            Self::IpAddress(address) => write!(f, "IP:{address}"),
            Self::UserPrincipalName(name) => write!(f, "UPN:{name}"),
            Self::OtherName { type_id, value } => {
                write!(f, "OTHER:{type_id}:{}", hexadecimal::encode(value))
            }
            Self::DirectoryName(name) => write!(f, "DIRNAME:{name}"),
            Self::RegisteredId(id) => write!(f, "RID:{id}"),
        }
    }
}

#[cfg(test)]
mod tests;
