//! How the constraints of a CA lie to those of the CAs above it (RFC 5280, section 6.1.4, takes
//! what both permit: a CA that is permitted more than those above it promises what it can't keep).

use std::fmt;
use std::net::IpAddr;

use super::{NameConstraints, Subtree};
use crate::name::dns_name::is_within;
use crate::name::email_address;

/// A permitted subtree that constraints above it forbid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Contradiction {
    /// It lies in none of those that are permitted.
    Outside {
        /// As in the request.
        subtree: String,
        /// What is permitted of its kind.
        permitted: String,
    },
    /// All of it is excluded.
    Excluded {
        /// As in the request.
        subtree: String,
        /// By this.
        by: String,
    },
}

impl NameConstraints {
    /// The first subtree permitted here that `above` does not permit or that it excludes.
    pub(crate) fn contradiction(&self, above: &Self) -> Option<Contradiction> {
        self.permitted.iter().find_map(|subtree| {
            let same_kind = above.permitted.iter().filter(|other| other.kind() == subtree.kind());
            let permitted: Vec<&Subtree> = same_kind.collect();
            if !permitted.is_empty() && !permitted.iter().any(|other| subtree.is_within(other)) {
                let texts: Vec<String> = permitted.iter().map(ToString::to_string).collect();
                return Some(Contradiction::Outside {
                    subtree: subtree.to_string(),
                    permitted: texts.join(", "),
                });
            }
            excluded(subtree, above)
        })
    }

    /// The first subtree that is permitted here and excluded as well.
    pub(crate) fn self_contradiction(&self) -> Option<Contradiction> {
        self.permitted.iter().find_map(|subtree| excluded(subtree, self))
    }
}

fn excluded(subtree: &Subtree, above: &NameConstraints) -> Option<Contradiction> {
    let by = above.excluded.iter().find(|other| subtree.is_within(other))?;
    Some(Contradiction::Excluded { subtree: subtree.to_string(), by: by.to_string() })
}

impl Subtree {
    fn kind(&self) -> &'static str {
        match self {
            Self::Dns(_) => "DNS",
            Self::Email(_) => "EMAIL",
            // Networks of one version say nothing of addresses of the other, which then have no
            // permitted subtree to lie in: RFC 5280 has one kind for both.
            Self::Ip(_) => "IP",
        }
    }

    /// Whether every name of this subtree is one of `other` too.
    fn is_within(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Dns(inner), Self::Dns(outer)) => is_within(inner, outer, true),
            (Self::Email(inner), Self::Email(outer)) => mail_is_within(inner, outer),
            (Self::Ip(inner), Self::Ip(outer)) => network_is_within(inner, outer),
            _ => false,
        }
    }
}

/// Each is a mailbox, a host, or with a leading dot all hosts below a domain.
fn mail_is_within(inner: &str, outer: &str) -> bool {
    if outer.contains('@') {
        let (host, other) = (email_address::host(inner), email_address::host(outer));
        let local = |address: &str| address.rsplit_once('@').map(|(local, _)| local.to_owned());
        return local(inner) == local(outer) && host.eq_ignore_ascii_case(other);
    }
    let host = inner.rsplit_once('@').map_or(inner, |(_, host)| host);
    match (outer.strip_prefix('.'), host.strip_prefix('.')) {
        (None, None) => host.eq_ignore_ascii_case(outer),
        (None, Some(_)) => false,
        (Some(domain), Some(below)) => is_within(below, domain, true),
        (Some(domain), None) => is_within(host, domain, true) && !host.eq_ignore_ascii_case(domain),
    }
}

/// Each is an address and a mask of the same length.
fn network_is_within(inner: &[u8], outer: &[u8]) -> bool {
    if inner.len() != outer.len() {
        return false;
    }
    let (address, mask) = inner.split_at(inner.len() / 2);
    let (network, bits) = outer.split_at(outer.len() / 2);
    let octets = address.iter().zip(mask).zip(network.iter().zip(bits));
    octets.into_iter().all(|((address, mask), (network, bits))| {
        mask & bits == *bits && address & bits == *network
    })
}

impl fmt::Display for Subtree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dns(domain) => write!(f, "DNS:{domain}"),
            Self::Email(text) => write!(f, "EMAIL:{text}"),
            Self::Ip(octets) => {
                let (address, mask) = octets.split_at(octets.len() / 2);
                let length: u32 = mask.iter().map(|octet| octet.count_ones()).sum();
                let address = <[u8; 4]>::try_from(address)
                    .map(IpAddr::from)
                    .or_else(|_| <[u8; 16]>::try_from(address).map(IpAddr::from))
                    .map_err(|_| fmt::Error)?;
                write!(f, "IP:{address}/{length}")
            }
        }
    }
}
