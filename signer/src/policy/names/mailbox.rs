//! E-mail addresses: the plain form `local@host` (RFC 5280, section 4.2.1.6; RFC 5321, section
//! 4.1.2).

use std::fmt;

use super::host_name::HostName;

/// An e-mail address. Quoted local parts and address literals are not taken: no one has them,
/// and readers disagree on them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Mailbox {
    /// Case matters to whoever delivers it.
    pub(in crate::policy) local: String,
    pub(in crate::policy) host: HostName,
}

impl Mailbox {
    /// Reads an address in ASCII.
    pub(in crate::policy) fn read(text: &str) -> Option<Self> {
        Self::of_parts(text).filter(|mailbox| mailbox.local.is_ascii())
    }

    /// Reads an address whose local part has characters beyond ASCII, none of them a control
    /// character; its host is in small letters (RFC 9598, section 3).
    pub(super) fn read_internationalised(text: &str) -> Option<Self> {
        let (_, host) = text.rsplit_once('@')?;
        if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return None;
        }
        Self::of_parts(text).filter(|mailbox| !mailbox.local.is_ascii())
    }

    fn of_parts(text: &str) -> Option<Self> {
        let (local, host) = text.rsplit_once('@')?;
        let is_atom = |atom: &str| !atom.is_empty() && atom.chars().all(is_atext);
        if local.len() > 64 || !local.split('.').all(is_atom) {
            return None;
        }
        Some(Self { local: local.to_owned(), host: HostName::read_single(host)? })
    }
}

/// RFC 5322, section 3.2.3, and for internationalised local parts RFC 6531, section 3.3.
fn is_atext(character: char) -> bool {
    character.is_ascii_alphanumeric()
        || "!#$%&'*+-/=?^_`{|}~".contains(character)
        || !character.is_ascii()
            && !character.is_whitespace()
            && !super::attribute::is_unseen(character)
}

impl fmt::Display for Mailbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.local, self.host)
    }
}
