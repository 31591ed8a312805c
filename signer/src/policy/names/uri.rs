//! URIs as names (RFC 3986; RFC 5280, section 4.2.1.6).

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use super::host_name::HostName;
use crate::policy::violation::PolicyViolation;

/// An absolute URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Uri {
    text: String,
    host: Option<Host>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Name(HostName),
    Address,
}

impl Uri {
    /// Reads an absolute URI. One with an authority has a whole host there.
    pub(in crate::policy) fn read(text: &str) -> Result<Self, PolicyViolation> {
        Self::parse(text).ok_or_else(|| PolicyViolation::Uri(text.to_owned()))
    }

    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once(':')?;
        let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
        if !is_scheme || rest.is_empty() || !has_uri_characters(rest) {
            return None;
        }
        let host = match rest.strip_prefix("//") {
            Some(rest) => {
                let authority = rest.split(['/', '?', '#']).next()?;
                Some(host(authority)?)
            }
            None => None,
        };
        let needs_host = ["http", "https", "ldap", "ldaps", "ftp"]
            .iter()
            .any(|known| scheme.eq_ignore_ascii_case(known));
        if needs_host && host.is_none() {
            return None;
        }
        Some(Self { text: text.to_owned(), host })
    }

    /// The host, where it is a name.
    pub(in crate::policy) fn host_name(&self) -> Option<&HostName> {
        match &self.host {
            Some(Host::Name(host)) => Some(host),
            _ => None,
        }
    }

    /// Whether it names no host at all, as `urn:` does. Others without an authority, such as
    /// `sip:user@host`, may name one in a way of their own.
    pub(super) fn is_without_host(&self) -> bool {
        self.host.is_none() && self.scheme().eq_ignore_ascii_case("urn")
    }

    /// What stands before the colon.
    pub(in crate::policy) fn scheme(&self) -> &str {
        self.text.split(':').next().unwrap_or_default()
    }
}

/// RFC 3986, section 3.2: `[userinfo@]host[:port]`.
fn host(authority: &str) -> Option<Host> {
    let (userinfo, host_and_port) = authority.rsplit_once('@').unwrap_or(("", authority));
    if userinfo.contains(['@', '[', ']']) {
        return None;
    }
    let (host, port) = if let Some(literal) = host_and_port.strip_prefix('[') {
        let (address, port) = literal.split_once(']')?;
        address.parse::<Ipv6Addr>().ok()?;
        (Host::Address, port)
    } else {
        let at = host_and_port.find(':').unwrap_or(host_and_port.len());
        let (host, port) = host_and_port.split_at_checked(at)?;
        let host = match host.parse::<IpAddr>() {
            Ok(_) => Host::Address,
            Err(_) => Host::Name(HostName::read_single(host)?),
        };
        (host, port)
    };
    let port = if port.is_empty() { port } else { port.strip_prefix(':')? };
    port.bytes().all(|byte| byte.is_ascii_digit()).then_some(host)
}

/// RFC 3986, section 2: unreserved, reserved, and percent signs before two hexadecimal digits.
fn has_uri_characters(text: &str) -> bool {
    let is_allowed =
        |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte);
    let escapes = text.split('%').skip(1);
    text.bytes().all(is_allowed)
        && text.matches('#').count() <= 1
        && escapes.map(str::as_bytes).all(
            |after| matches!(after, [a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit()),
        )
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
