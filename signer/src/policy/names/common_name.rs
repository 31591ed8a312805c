//! When a common name is meant as a host name or an address: clients without subjectAltName
//! support take it for one, so it obeys the same rules.

use std::net::{IpAddr, SocketAddr};

use chancery_shared::lookalike;

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
    /// scheme, a dot too many or of another script, or with what no one sees, for instance.
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
    // With a port it is an address still.
    if let Ok(address) = text.parse::<SocketAddr>() {
        return Ok(CommonName::Named(AlternativeName::Ip(address.ip())));
    }
    if has_host_form(text) {
        return HostName::read(text).map(AlternativeName::Dns).map(CommonName::Named);
    }
    if let Some(mailbox) = Mailbox::read(text) {
        return Ok(CommonName::Mailbox(AlternativeName::Email(mailbox)));
    }
    let is_near = lookalike::has_labels(text) || lookalike::hides_something(text);
    Ok(if is_near { CommonName::NearlyHost } else { CommonName::Other })
}

fn has_host_form(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text);
    labels.contains('.')
        && labels.split('.').all(|label| !label.is_empty())
        && !host_name::has_numeric_end(labels)
        && labels.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_*".contains(&byte))
}
