//! What a commonName is meant as: clients that don't look at alternative names take it for a host,
//! so it is held to the same rules.

use std::net::{IpAddr, SocketAddr};

use chancery_shared::lookalike;

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
    /// scheme, a dot too many or a character that no one sees, for instance.
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
    // With a port it is an address still.
    if let Ok(address) = text.parse::<SocketAddr>() {
        return CommonName::Address(address.ip());
    }
    match dns_name::to_ascii(text) {
        // Dots of other scripts count: they become full stops in A-labels.
        Ok(host) if host.contains('.') => CommonName::Host(host),
        Err(_) if email_address::check(text).is_ok() => {
            CommonName::MailboxAt(email_address::host(text).to_owned())
        }
        // What IDNA drops without a word is still in the name that is certified.
        _ if lookalike::hides_something(text) => CommonName::NearlyHost,
        Err(_) if lookalike::has_labels(text) => CommonName::NearlyHost,
        Ok(_) | Err(_) => CommonName::Other,
    }
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
            ("192.0.2.1:443", CommonName::Address([192, 0, 2, 1].into())),
            ("[2001:db8::1]:443", CommonName::Address("2001:db8::1".parse().unwrap())),
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
            "www.evil.c\u{200d}om",
            "www.evil.c\u{200c}om",
            "evil.test.\u{301}",
            "evil.te\u{200a}st",
            "192.0\u{200d}.2.1",
            "192.0\u{301}.2.1",
            "192\u{2024}0\u{2024}2\u{2024}1",
            "１９２.0.2.1",
            "intra\u{ad}net.c\u{200d}om",
            "Anna\u{115f}Muster",
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
            "Anna Mu\u{308}ller",
            "Prüfstand 1.2",
            "Prüfstand-1.2",
            "„Muster e.V.“ – Köln",
            "Printer 7",
            "*",
        ] {
            assert_eq!(meant(text), CommonName::Other, "{text}");
        }
    }
}
