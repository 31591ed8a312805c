//! When a common name is meant as a host name or an address: clients without subjectAltName
//! support take it for one, so it obeys the same rules.

use std::net::IpAddr;

use super::alternative_name::AlternativeName;
use super::host_name::{self, HostName};
use crate::policy::violation::PolicyViolation;

/// What the common name would mean as a name of a host, if it has the form of one: labels with
/// a dot between them, as OpenSSL judges it, or an IP address. `v1.2` is neither.
pub(super) fn meant(text: &str) -> Result<Option<AlternativeName>, PolicyViolation> {
    let text = text.trim();
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(Some(AlternativeName::Ip(address)));
    }
    if has_host_form(text) {
        HostName::read(text).map(AlternativeName::Dns).map(Some)
    } else {
        Ok(None)
    }
}

fn has_host_form(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text);
    labels.contains('.')
        && labels.split('.').all(|label| !label.is_empty())
        && !host_name::has_numeric_end(labels)
        && labels.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_*".contains(&byte))
}
