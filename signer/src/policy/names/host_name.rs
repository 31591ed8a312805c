//! Host names in the preferred name syntax (RFC 5280, section 4.2.1.6; RFC 1123, section 2.1).

use std::fmt;

use super::punycode;
use crate::policy::violation::PolicyViolation;

/// A host name or, where [`HostName::is_wildcard`], all hosts one label below one.
///
/// Underscores pass, since hosts and service records have them; not below a wildcard, where no
/// host is meant in particular. A single label passes too: a private CA serves such hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct HostName {
    /// Lower-case, without the wildcard's label.
    base: String,
    is_wildcard: bool,
}

impl HostName {
    /// Reads a host name that may begin with the label `*`.
    pub(in crate::policy) fn read(text: &str) -> Result<Self, PolicyViolation> {
        let bad = || PolicyViolation::DnsName(text.to_owned());
        let base = text.strip_prefix("*.").unwrap_or(text);
        let is_wildcard = base.len() < text.len();
        if base.contains('*') || is_wildcard && base.contains('_') {
            return Err(PolicyViolation::WildcardForm(text.to_owned()));
        }
        // RFC 1035, section 2.3.4, as text: 253 characters make 255 octets on the wire.
        if text.len() > 253 || !base.split('.').all(is_label) {
            return Err(bad());
        }
        // An address belongs into an iPAddress; a host whose last label is a number would be read
        // as one (RFC 1123, section 2.1).
        if has_numeric_end(base) {
            return Err(bad());
        }
        let base = base.to_ascii_lowercase();
        let mut a_labels = base.split('.').filter_map(|label| label.strip_prefix("xn--"));
        if a_labels.any(|label| !punycode::is_a_label(label)) {
            return Err(PolicyViolation::ALabel(text.to_owned()));
        }
        Ok(Self { base, is_wildcard })
    }

    /// Reads a host name that stands for one host.
    pub(in crate::policy) fn read_single(text: &str) -> Option<Self> {
        Self::read(text).ok().filter(|host| !host.is_wildcard)
    }

    /// What OpenSSL takes a common name for where it looks for hosts there: dots between labels
    /// of letters, digits, hyphens and underscores, numbers and addresses among them.
    pub(super) fn of_common_name(text: &str) -> Option<Self> {
        let is_label = |label: &str| {
            let mut bytes = label.bytes();
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        let is_host = text.contains('.') && text.split('.').all(is_label);
        is_host.then(|| Self { base: text.to_ascii_lowercase(), is_wildcard: false })
    }

    /// Whether it begins with the label `*`.
    pub(in crate::policy) fn is_wildcard(&self) -> bool {
        self.is_wildcard
    }

    /// Whether this is `domain` or lies below it. `domain` is lower-case, without a leading dot.
    pub(in crate::policy) fn is_within(&self, domain: &str) -> bool {
        is_below(&self.base, domain) || self.base == domain
    }

    /// Whether this lies below `domain` and is not `domain` itself.
    pub(in crate::policy) fn is_below(&self, domain: &str) -> bool {
        is_below(&self.base, domain) || self.is_wildcard && self.base == domain
    }

    /// Whether this is exactly `host`, which is lower-case.
    pub(in crate::policy) fn is(&self, host: &str) -> bool {
        !self.is_wildcard && self.base == host
    }

    /// Whether some host that this stands for is `domain` or lies below it.
    pub(in crate::policy) fn may_be_within(&self, domain: &str) -> bool {
        let parent = domain.split_once('.').map(|(_, parent)| parent);
        self.is_within(domain) || self.is_wildcard && parent == Some(self.base.as_str())
    }
}

fn is_below(name: &str, domain: &str) -> bool {
    name.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// Whether no one can take the name for a host's: its last label is a number.
pub(super) fn has_numeric_end(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether this is a label between dots; underscores pass.
pub(super) fn is_label(label: &str) -> bool {
    (1..=63).contains(&label.len())
        && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        && !label.starts_with('-')
        && !label.ends_with('-')
}

impl fmt::Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_wildcard { "*." } else { "" }, self.base)
    }
}
