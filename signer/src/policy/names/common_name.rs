//! When a common name is meant as a host name or an address: clients without subjectAltName
//! support take it for one, so it obeys the same rules.

use std::net::{IpAddr, SocketAddr};

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
    let is_near = has_labels(text) || text.chars().any(is_ignorable);
    Ok(if is_near { CommonName::NearlyHost } else { CommonName::Other })
}

fn has_host_form(text: &str) -> bool {
    let labels = text.strip_suffix('.').unwrap_or(text);
    labels.contains('.')
        && labels.split('.').all(|label| !label.is_empty())
        && !host_name::has_numeric_end(labels)
        && labels.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_*".contains(&byte))
}

/// Whether some word has a dot in front of what may be a last label: `Dr. Muster`, `v1.2` and
/// `e.V.` have none. So does a word that shows an address in other characters than an address has.
fn has_labels(text: &str) -> bool {
    // Marks can't be told from signs without tables: neither parts a word, nor counts in it.
    let is_shown = |c: &char| c.is_ascii() || c.is_alphanumeric() || is_dot(*c) || is_blank(*c);
    let shown: String = text.chars().filter(is_shown).collect();
    let belongs = |c: char| c.is_alphanumeric() || "-_*".contains(c) || is_dot(c);
    shown.split(|c| !belongs(c)).any(|word| {
        let word = word.trim_end_matches(is_dot);
        let Some((_, last)) = word.rsplit_once(is_dot) else { return false };
        let is_number = last.chars().all(|c| c.is_ascii_digit());
        let is_like_ipv4 =
            word.split(is_dot).count() == 4 && word.chars().all(|c| is_dot(c) || c.is_numeric());
        let is_disguised = !text.is_ascii() && is_like_ipv4;
        is_disguised || last.chars().nth(1).is_some() && !is_number
    })
}

/// The full stops that IDNA takes as the same (UTS 46), and what it folds to one.
fn is_dot(c: char) -> bool {
    ".\u{3002}\u{ff0e}\u{ff61}\u{2024}\u{fe52}".contains(c)
}

/// What shows as a blank of some width; narrower ones hide between letters.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{2003}' | '\u{3000}')
}

/// Default_Ignorable_Code_Point of Unicode: shown as nothing, so that a name with one looks like
/// another.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}
