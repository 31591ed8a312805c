//! When a common name is meant as a host name or an address: clients without subjectAltName
//! support take it for one, so it obeys the same rules.

use std::net::IpAddr;

use super::alternative_name::AlternativeName;
use super::host_name::{self, HostName};
use super::mailbox::Mailbox;
use crate::policy::violation::PolicyViolation;

/// How clients and people may read a common name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommonName {
    /// As a host or its address.
    Named(AlternativeName),
    /// As someone's mail address.
    Mailbox(AlternativeName),
    /// No host name, but so near one that someone may take it for one: with a blank, a port, a
    /// scheme, a dot too many or of another script, for instance.
    NearlyHost,
    /// A person, a device, a single label.
    Other,
}

/// What the common name would mean as a name of a host, if it has the form of one: labels with
/// a dot between them, as OpenSSL judges it, or an IP address. `v1.2` is neither.
pub(super) fn meant(text: &str) -> Result<CommonName, PolicyViolation> {
    let text = text.trim();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(CommonName::Named(AlternativeName::Ip(address)));
    }
    if has_host_form(text) {
        return HostName::read(text).map(AlternativeName::Dns).map(CommonName::Named);
    }
    if let Some(mailbox) = Mailbox::read(text) {
        return Ok(CommonName::Mailbox(AlternativeName::Email(mailbox)));
    }
    Ok(if has_labels(text) { CommonName::NearlyHost } else { CommonName::Other })
}

fn has_host_form(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text);
    labels.contains('.')
        && labels.split('.').all(|label| !label.is_empty())
        && !host_name::has_numeric_end(labels)
        && labels.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_*".contains(&byte))
}

/// Whether some word has a dot in front of what may be a last label: `Dr. Muster`, `v1.2` and
/// `e.V.` have none.
fn has_labels(text: &str) -> bool {
    let belongs = |c: char| c.is_alphanumeric() || "-_*".contains(c) || is_dot(c);
    text.split(|c| !belongs(c)).any(|word| {
        let Some((_, last)) = word.trim_end_matches(is_dot).rsplit_once(is_dot) else {
            return false;
        };
        last.chars().nth(1).is_some() && !last.chars().all(|c| c.is_ascii_digit())
    })
}

/// The full stops that IDNA takes as the same (UTS 46).
fn is_dot(c: char) -> bool {
    ".\u{3002}\u{ff0e}\u{ff61}".contains(c)
}
