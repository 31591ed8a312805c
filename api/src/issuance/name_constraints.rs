//! Name constraints of a CA (RFC 5280, section 4.2.1.10), as an administrator writes them.

mod nesting;

use std::net::IpAddr;

use const_oid::db::rfc5280::ID_CE_NAME_CONSTRAINTS;
use der::Encode as _;
use der::asn1::{Ia5String, OctetString};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use x509_cert::ext::pkix::NameConstraints as Syntax;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;
use x509_cert::ext::pkix::name::GeneralName;

use super::extensions::Extensions;
use crate::echo::cut;
use crate::json::empty_is_no_list;
use crate::name::{dns_name, email_address};

pub(crate) use nesting::Contradiction;

/// The `nameConstraints` of a Local CA: `DNS:example.test`, `IP:192.0.2.0/24`,
/// `EMAIL:.example.test`.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct NameConstraintsText {
    /// Names must lie in one of these; empty: anywhere.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub permitted: Vec<String>,
    /// Names must lie in none of these.
    #[serde(deserialize_with = "empty_is_no_list")]
    pub excluded: Vec<String>,
}

/// Constraints that can stand in a certificate: at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameConstraints {
    permitted: Vec<Subtree>,
    excluded: Vec<Subtree>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Subtree {
    Dns(String),
    Email(String),
    /// Address and mask, both of 4 or of 16 octets.
    Ip(Vec<u8>),
}

/// Why a text is no name constraint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameConstraintProblem {
    /// A form that people write and that means something else; the right one is named.
    #[error("{:?} is not written right; write {:?}", cut(text), cut(corrected))]
    Corrected {
        /// As written.
        text: String,
        /// What would pass.
        corrected: String,
    },
    /// Anything else.
    #[error(
        "{:?} is no constraint; write DNS:example.org, IP:192.0.2.0/24, \
         EMAIL:host.example.org, EMAIL:.example.org or EMAIL:user@example.org",
        cut(.0)
    )]
    Malformed(String),
}

impl NameConstraintsText {
    /// Reads both lists; `None` where both are empty.
    ///
    /// # Errors
    ///
    /// The first entry that is wrong, with the corrected form where it is clear.
    pub fn parse(&self) -> Result<Option<NameConstraints>, NameConstraintProblem> {
        let read = |texts: &[String]| {
            texts.iter().map(|text| subtree(text)).collect::<Result<Vec<_>, _>>()
        };
        let (permitted, excluded) = (read(&self.permitted)?, read(&self.excluded)?);
        if permitted.is_empty() && excluded.is_empty() {
            return Ok(None);
        }
        Ok(Some(NameConstraints { permitted, excluded }))
    }
}

fn subtree(text: &str) -> Result<Subtree, NameConstraintProblem> {
    let malformed = || NameConstraintProblem::Malformed(text.to_owned());
    let (kind, value) = text.split_once(':').ok_or_else(malformed)?;
    let value = value.trim();
    match kind.trim().to_ascii_uppercase().as_str() {
        "DNS" => dns(text, value),
        "EMAIL" => email(text, value),
        "IP" => ip(text, value),
        _ => Err(malformed()),
    }
}

fn dns(text: &str, value: &str) -> Result<Subtree, NameConstraintProblem> {
    let bare = value.trim_start_matches("*.").trim_matches('.');
    let host = dns_name::to_ascii(bare)
        .ok()
        .filter(|host| !host.starts_with('*'))
        .ok_or_else(|| NameConstraintProblem::Malformed(text.to_owned()))?;
    // A leading dot or wildcard has no meaning in RFC 5280; readers differ on it.
    if bare != value {
        return Err(corrected(text, format!("DNS:{host}")));
    }
    Ok(Subtree::Dns(host))
}

/// A mailbox, all mailboxes of a host, or with a leading dot those of every host below a domain.
fn email(text: &str, value: &str) -> Result<Subtree, NameConstraintProblem> {
    if value.contains('@') {
        return match (email_address::check(value), value.strip_prefix('@')) {
            (Ok(()), _) => Ok(Subtree::Email(value.to_owned())),
            (Err(_), Some(host)) if dns_name::check(host).is_ok() => {
                Err(corrected(text, format!("EMAIL:{host}")))
            }
            _ => Err(NameConstraintProblem::Malformed(text.to_owned())),
        };
    }
    let (below, host) = match value.strip_prefix("*.") {
        Some(host) => return Err(corrected(text, format!("EMAIL:.{host}"))),
        None => value.strip_prefix('.').map_or(("", value), |host| (".", host)),
    };
    match dns_name::to_ascii(host) {
        Ok(host) if !host.starts_with('*') => Ok(Subtree::Email(format!("{below}{host}"))),
        _ => Err(NameConstraintProblem::Malformed(text.to_owned())),
    }
}

fn ip(text: &str, value: &str) -> Result<Subtree, NameConstraintProblem> {
    let malformed = || NameConstraintProblem::Malformed(text.to_owned());
    let (address, length) = match value.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (value, None),
    };
    let address: IpAddr = address.trim().parse().map_err(|_| malformed())?;
    let (octets, most) = match address {
        IpAddr::V4(v4) => (v4.octets().to_vec(), 32),
        IpAddr::V6(v6) => (v6.octets().to_vec(), 128),
    };
    let Some(length) = length else {
        return Err(corrected(text, format!("IP:{address}/{most}")));
    };
    let length: u32 = length.trim().parse().map_err(|_| malformed())?;
    if length > most {
        return Err(malformed());
    }
    let mask: Vec<u8> = (0..most / 8)
        .map(|octet| {
            let ones = length.saturating_sub(octet * 8).min(8);
            u8::try_from(0xff00_u32 >> ones & 0xff).unwrap_or_default()
        })
        .collect();
    let network: Vec<u8> = octets.iter().zip(&mask).map(|(octet, mask)| octet & mask).collect();
    if network != octets {
        let network = <[u8; 4]>::try_from(network.as_slice())
            .map(IpAddr::from)
            .or_else(|_| <[u8; 16]>::try_from(network.as_slice()).map(IpAddr::from))
            .map_err(|_| malformed())?;
        return Err(corrected(text, format!("IP:{network}/{length}")));
    }
    Ok(Subtree::Ip([network, mask].concat()))
}

fn corrected(text: &str, corrected: String) -> NameConstraintProblem {
    NameConstraintProblem::Corrected { text: text.to_owned(), corrected }
}

impl NameConstraints {
    pub(super) fn add_to(&self, extensions: &mut Extensions) -> der::Result<()> {
        let list = |subtrees: &[Subtree]| {
            let list = subtrees.iter().map(Subtree::syntax).collect::<der::Result<Vec<_>>>()?;
            Ok::<_, der::Error>(Some(list).filter(|list| !list.is_empty()))
        };
        let value = Syntax {
            permitted_subtrees: list(&self.permitted)?,
            excluded_subtrees: list(&self.excluded)?,
        };
        extensions.add(ID_CE_NAME_CONSTRAINTS, true, &value.to_der()?)
    }
}

impl Subtree {
    fn syntax(&self) -> der::Result<GeneralSubtree> {
        let base = match self {
            Self::Dns(host) => GeneralName::DnsName(Ia5String::new(host)?),
            Self::Email(text) => GeneralName::Rfc822Name(Ia5String::new(text)?),
            Self::Ip(octets) => GeneralName::IpAddress(OctetString::new(octets.as_slice())?),
        };
        Ok(GeneralSubtree { base, minimum: 0, maximum: None })
    }
}

#[cfg(test)]
mod tests;
