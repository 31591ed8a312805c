//! One subject alternative name (RFC 5280, section 4.2.1.6), well-formed.

use std::fmt;
use std::net::IpAddr;

use chancery_shared::wire::policy::SanType;
use der::asn1::ObjectIdentifier;
use x509_cert::ext::pkix::name::GeneralName;

use super::distinguished_name::DistinguishedName;
use super::host_name::HostName;
use super::mailbox::Mailbox;
use super::other_name::OtherName;
use super::uri::Uri;
use crate::policy::violation::PolicyViolation;

/// A name beside the subject's distinguished name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) enum AlternativeName {
    Dns(HostName),
    Ip(IpAddr),
    Email(Mailbox),
    Uri(Uri),
    Other(OtherName),
    Directory(DistinguishedName),
    RegisteredId(ObjectIdentifier),
}

impl AlternativeName {
    /// Checks a GeneralName for what its type demands.
    pub(super) fn read(name: &GeneralName) -> Result<Self, PolicyViolation> {
        Ok(match name {
            GeneralName::DnsName(text) => Self::Dns(HostName::read(text.as_str())?),
            GeneralName::IpAddress(octets) => Self::Ip(ip_address(octets.as_bytes())?),
            GeneralName::Rfc822Name(text) => Self::email(text.as_str())?,
            GeneralName::UniformResourceIdentifier(text) => Self::Uri(Uri::read(text.as_str())?),
            GeneralName::OtherName(name) => Self::Other(OtherName::read(name)?),
            GeneralName::DirectoryName(name) => {
                let name = DistinguishedName::from_rdns(name.as_ref())?;
                if name.is_empty() {
                    return Err(PolicyViolation::NameMalformed);
                }
                Self::Directory(name)
            }
            GeneralName::RegisteredId(oid) => Self::RegisteredId(*oid),
            GeneralName::EdiPartyName(_) => return Err(PolicyViolation::NameTypeUnknown),
        })
    }

    /// Reads an e-mail address.
    pub(super) fn email(text: &str) -> Result<Self, PolicyViolation> {
        Mailbox::read(text).map(Self::Email).ok_or_else(|| PolicyViolation::Email(text.to_owned()))
    }

    /// The kind of name, as policy lists them.
    pub(super) fn kind(&self) -> SanType {
        match self {
            Self::Dns(_) => SanType::Dns,
            Self::Ip(_) => SanType::Ip,
            Self::Email(_) => SanType::Email,
            Self::Uri(_) => SanType::Uri,
            Self::Other(_) => SanType::OtherName,
            Self::Directory(_) => SanType::DirectoryName,
            Self::RegisteredId(_) => SanType::RegisteredId,
        }
    }

    /// The kind as policy writes it.
    pub(super) fn kind_name(&self) -> &'static str {
        match self {
            Self::Dns(_) => "dns",
            Self::Ip(_) => "ip",
            Self::Email(_) => "email",
            Self::Uri(_) => "uri",
            Self::Other(_) => "other-name",
            Self::Directory(_) => "directory-name",
            Self::RegisteredId(_) => "registered-id",
        }
    }

    /// Whether the name's host, where names of its kind have one, is in one of the domains.
    pub(super) fn is_within(&self, domains: &[String]) -> bool {
        let within = |host: &HostName| domains.iter().any(|domain| host.is_within(domain));
        match self {
            Self::Dns(host) => within(host),
            Self::Email(mailbox) => within(&mailbox.host),
            Self::Uri(uri) => uri.host_name().map_or(uri.is_without_host(), within),
            Self::Other(name) => name.host().map_or(name.is_without_host(), within),
            // Names of no host: the kinds that policy allows decide alone.
            Self::Ip(_) | Self::Directory(_) | Self::RegisteredId(_) => true,
        }
    }
}

fn ip_address(octets: &[u8]) -> Result<IpAddr, PolicyViolation> {
    <[u8; 4]>::try_from(octets)
        .map(IpAddr::from)
        .or_else(|_| <[u8; 16]>::try_from(octets).map(IpAddr::from))
        .map_err(|_| PolicyViolation::IpAddress(octets.len()))
}

impl fmt::Display for AlternativeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(host) => host.fmt(f),
            Self::Ip(address) => address.fmt(f),
            Self::Email(mailbox) => mailbox.fmt(f),
            Self::Uri(uri) => uri.fmt(f),
            Self::Other(name) => name.fmt(f),
            Self::Directory(name) => name.fmt(f),
            Self::RegisteredId(oid) => oid.fmt(f),
        }
    }
}
