//! What a commonName is meant as: clients that don't look at alternative names take it for a host,
//! so it is held to the same rules.

use std::net::IpAddr;

use super::{dns_name, email_address};

/// How clients and people may read a commonName.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommonName {
    /// An IP address.
    Address(IpAddr),
    /// A host name of at least two labels, or a wildcard; as A-labels.
    Host(String),
    /// A mail address at this host.
    MailboxAt(String),
    /// No host name, but so close to one that someone may take it for one: with a blank, a port, a
    /// scheme or a dot too many, for instance.
    NearlyHost,
    /// Anything else: a person, a device, a single label.
    Other,
}

/// Reads a commonName.
pub fn meant(text: &str) -> CommonName {
    let text = text.trim();
    if let Ok(address) = text.parse() {
        return CommonName::Address(address);
    }
    match dns_name::to_ascii(text) {
        // Dots of other scripts count: they become full stops in A-labels.
        Ok(host) if host.contains('.') => CommonName::Host(host),
        Err(_) if email_address::check(text).is_ok() => {
            CommonName::MailboxAt(email_address::host(text).to_owned())
        }
        Err(_) if has_labels(text) => CommonName::NearlyHost,
        Ok(_) | Err(_) => CommonName::Other,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_addresses_and_mailboxes_are_read_as_such() {
        let host = |name: &str| CommonName::Host(name.to_owned());
        for (text, meaning) in [
            ("www.example.test", host("www.example.test")),
            (" www.example.test ", host("www.example.test")),
            ("*.example.test", host("*.example.test")),
            ("app_1.example.test", host("app_1.example.test")),
            ("münchen.test", host("xn--mnchen-3ya.test")),
            ("evil。test", host("evil.test")),
            ("ｅｖｉｌ．test", host("evil.test")),
            ("192.0.2.1", CommonName::Address([192, 0, 2, 1].into())),
            (" 192.0.2.1", CommonName::Address([192, 0, 2, 1].into())),
            ("anna@example.test", CommonName::MailboxAt("example.test".to_owned())),
        ] {
            assert_eq!(meant(text), meaning, "{text}");
        }
    }

    #[test]
    fn what_is_nearly_a_host_is_told_from_other_names() {
        for text in [
            "evil .test",
            "www evil.test",
            "evil.test.",
            ".evil.test",
            "evil..test",
            "evil.test:8443",
            "https://evil.test/",
            "*.a_b.evil.test",
            "w*.evil.test",
            "-a.evil.test",
            "evil.test, backup",
            "evil.test/path",
            "evil(com).test",
            "a b@evil.test",
            "evil 。test",
        ] {
            assert_eq!(meant(text), CommonName::NearlyHost, "{text}");
        }
        for text in [
            "Anna Muster",
            "Dr. Anna Muster",
            "J.R. Muster",
            "Muster e.V.",
            "Muster GmbH & Co. KG",
            "Firmware v1.2",
            "intranet",
            "Printer 7",
            "*",
        ] {
            assert_eq!(meant(text), CommonName::Other, "{text}");
        }
    }
}
