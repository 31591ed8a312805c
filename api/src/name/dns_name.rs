//! Host names as certificates hold them (RFC 5280, section 4.2.1.6; RFC 1034, section 3.5).

use std::net::IpAddr;

/// Why a text is no host name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnsNameProblem {
    /// Nothing at all.
    #[error("it is empty")]
    Empty,
    /// A dot at the end.
    #[error("it ends in a dot; leave the dot out")]
    TrailingDot,
    /// A dot at the beginning, or two in a row.
    #[error("it has an empty label; write one dot between labels and none in front")]
    EmptyLabel,
    /// Over 63.
    #[error("a label has more than 63 characters")]
    LabelTooLong,
    /// Over 253.
    #[error("it has more than 253 characters")]
    TooLong,
    /// `*` anywhere but as the whole left-most label.
    #[error("a wildcard may only be the whole left-most label, such as *.example.org")]
    Wildcard,
    /// `*` in front of a name with an underscore, which no host has.
    #[error("a wildcard can't stand in front of a name with an underscore")]
    WildcardUnderscore,
    /// A hyphen at an end of a label.
    #[error("a label begins or ends with a hyphen")]
    Hyphen,
    /// Something that is no letter, digit, hyphen or underscore: an URL, a port, an address.
    #[error("it holds {0:?}; write a host name alone, without scheme, port or path")]
    Character(char),
    /// An IP address in the place of a name.
    #[error("it is an IP address; write it as IP:")]
    Address,
    /// Letters that IDNA does not allow, or an `xn--` label that means none.
    #[error("it is not a valid internationalised name")]
    Idna,
}

/// Checks a name of A-labels; a wildcard as the whole left-most label is let pass.
///
/// Underscores are let pass, but not below a wildcard: inside companies they are common.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn check(name: &str) -> Result<(), DnsNameProblem> {
    if name.is_empty() {
        return Err(DnsNameProblem::Empty);
    }
    if name.parse::<IpAddr>().is_ok() {
        return Err(DnsNameProblem::Address);
    }
    if name.len() > 253 {
        return Err(DnsNameProblem::TooLong);
    }
    let host = name.strip_prefix("*.").unwrap_or(name);
    if host.len() > 1 && host.ends_with('.') && !host.ends_with("..") {
        return Err(DnsNameProblem::TrailingDot);
    }
    host.split('.').try_for_each(check_label)?;
    if host.len() < name.len() && host.contains('_') {
        return Err(DnsNameProblem::WildcardUnderscore);
    }
    // A host whose last label is a number would be read as an address (RFC 1123, section 2.1).
    let last = host.rsplit('.').next().unwrap_or_default();
    if last.bytes().all(|b| b.is_ascii_digit()) {
        return Err(DnsNameProblem::Address);
    }
    Ok(())
}

/// Whether this may stand between the dots of a name of A-labels.
pub(super) fn is_label(label: &str) -> bool {
    !label.contains('.') && check_label(label).is_ok()
}

fn check_label(label: &str) -> Result<(), DnsNameProblem> {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "-_".contains(*c);
    if label.is_empty() {
        return Err(DnsNameProblem::EmptyLabel);
    }
    if label.contains('*') {
        return Err(DnsNameProblem::Wildcard);
    }
    if let Some(c) = label.chars().find(|c| !allowed(c)) {
        return Err(DnsNameProblem::Character(c));
    }
    if label.len() > 63 {
        return Err(DnsNameProblem::LabelTooLong);
    }
    if label.starts_with('-') || label.ends_with('-') {
        return Err(DnsNameProblem::Hyphen);
    }
    let lower = label.to_ascii_lowercase();
    if lower.starts_with("xn--") && idna::domain_to_unicode(&lower).1.is_err() {
        return Err(DnsNameProblem::Idna);
    }
    Ok(())
}

/// The name as A-labels: what is ASCII stays as typed, U-labels are converted.
///
/// # Errors
///
/// As [`check`].
pub fn to_ascii(typed: &str) -> Result<String, DnsNameProblem> {
    let name = if typed.is_ascii() {
        typed.to_owned()
    } else {
        let (wildcard, host) = typed.strip_prefix("*.").map_or(("", typed), |host| ("*.", host));
        let host = idna::domain_to_ascii(host).map_err(|_| DnsNameProblem::Idna)?;
        format!("{wildcard}{host}")
    };
    check(&name)?;
    Ok(name)
}

/// Whether `name` is `domain`, or below it where `below` says so. Case does not matter.
pub fn is_within(name: &str, domain: &str, below: bool) -> bool {
    let name = name.strip_prefix("*.").unwrap_or(name).to_ascii_lowercase();
    let domain = domain.to_ascii_lowercase();
    name == domain || below && name.strip_suffix(&domain).is_some_and(|rest| rest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_pass_and_everything_else_is_told_what_is_wrong() {
        use DnsNameProblem as P;
        let label = "a".repeat(64);
        let long = ["a"; 130].join(".");
        for (name, outcome) in [
            ("www.example.test", Ok(())),
            ("*.example.test", Ok(())),
            ("intranet", Ok(())),
            ("app_server_1.example.test", Ok(())),
            ("xn--mnchen-3ya.example.test", Ok(())),
            ("4.example.test", Ok(())),
            ("", Err(P::Empty)),
            ("*", Err(P::Wildcard)),
            ("*.*.example.test", Err(P::Wildcard)),
            ("a.*.example.test", Err(P::Wildcard)),
            ("w*.example.test", Err(P::Wildcard)),
            ("example.*", Err(P::Wildcard)),
            ("*.a_b.example.test", Err(P::WildcardUnderscore)),
            ("example.test.", Err(P::TrailingDot)),
            (".example.test", Err(P::EmptyLabel)),
            ("a..example.test", Err(P::EmptyLabel)),
            (".", Err(P::EmptyLabel)),
            ("https://example.test/", Err(P::Character(':'))),
            ("example.test:8443", Err(P::Character(':'))),
            ("admin@example.test", Err(P::Character('@'))),
            ("-a.example.test", Err(P::Hyphen)),
            ("192.0.2.7", Err(P::Address)),
            ("192.0.2", Err(P::Address)),
            ("xn--a.example.test", Err(P::Idna)),
            (&format!("{label}.test"), Err(P::LabelTooLong)),
            (&long, Err(P::TooLong)),
        ] {
            assert_eq!(check(name), outcome, "{name}");
        }
    }

    #[test]
    fn u_labels_become_a_labels_and_ascii_stays_as_typed() {
        for (typed, name) in [
            ("münchen.example.test", "xn--mnchen-3ya.example.test"),
            ("*.münchen.example.test", "*.xn--mnchen-3ya.example.test"),
            ("😸.example.test", "xn--z38h.example.test"),
            ("WWW.Example.test", "WWW.Example.test"),
        ] {
            assert_eq!(to_ascii(typed).as_deref(), Ok(name));
        }
    }

    #[test]
    fn a_look_alike_suffix_is_not_within_the_domain() {
        assert!(is_within("a.example.test", "example.test", true));
        assert!(is_within("*.Example.test", "example.test", false));
        assert!(!is_within("a.example.test", "example.test", false));
        assert!(!is_within("evilexample.test", "example.test", true));
    }
}
