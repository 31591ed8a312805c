//! otherName: the types that are known, and the rest.

use std::fmt;

use der::asn1::{Any, Ia5StringRef, ObjectIdentifier, Utf8StringRef};
use x509_cert::ext::pkix::name::OtherName as RawOtherName;

use super::host_name::HostName;
use super::mailbox::Mailbox;
use crate::policy::violation::PolicyViolation;

/// Microsoft's user principal name: UTF8String `user@domain`, or a bare account.
const USER_PRINCIPAL_NAME: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.20.2.3");
/// SRVName (RFC 4985): IA5String `_service.host`.
const SRV_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.7");
/// SmtpUTF8Mailbox (RFC 9598).
const SMTP_UTF8_MAILBOX: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.8.9");

/// An otherName.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct OtherName {
    oid: ObjectIdentifier,
    meaning: Meaning,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    /// A user or service of a host or domain; `None` where the domain is none that can be read.
    OfHost(String, Option<HostName>),
    /// An e-mail address with a local part beyond ASCII.
    Email(Mailbox),
    /// A type that is not known here; its value is well-formed DER.
    Unknown,
}

impl OtherName {
    pub(super) fn read(name: &RawOtherName) -> Result<Self, PolicyViolation> {
        let RawOtherName { type_id: oid, value } = name;
        let meaning = match *oid {
            USER_PRINCIPAL_NAME => user_principal_name(value),
            SRV_NAME => srv_name(value),
            SMTP_UTF8_MAILBOX => {
                utf8(value).and_then(Mailbox::read_internationalised).map(Meaning::Email)
            }
            _ => Some(Meaning::Unknown),
        };
        let meaning = meaning.ok_or(PolicyViolation::OtherName(*oid))?;
        Ok(Self { oid: *oid, meaning })
    }

    /// The host that it belongs to, where it says one.
    pub(super) fn host(&self) -> Option<&HostName> {
        match &self.meaning {
            Meaning::OfHost(_, host) => host.as_ref(),
            Meaning::Email(mailbox) => Some(&mailbox.host),
            Meaning::Unknown => None,
        }
    }

    /// Whether names of its type say no host, as far as is known.
    pub(super) fn is_without_host(&self) -> bool {
        self.meaning == Meaning::Unknown
    }

    /// The address, where it is one: constraints on addresses hold for it (RFC 9598, section 6).
    pub(in crate::policy) fn mailbox(&self) -> Option<&Mailbox> {
        match &self.meaning {
            Meaning::Email(mailbox) => Some(mailbox),
            _ => None,
        }
    }
}

fn user_principal_name(value: &Any) -> Option<Meaning> {
    let text = utf8(value)?;
    if text.is_empty() || text.chars().any(super::attribute::is_unseen) {
        return None;
    }
    let domain = text.rsplit_once('@').and_then(|(_, domain)| HostName::read_single(domain));
    Some(Meaning::OfHost(text.to_owned(), domain))
}

fn srv_name(value: &Any) -> Option<Meaning> {
    let text = Ia5StringRef::try_from(value).ok()?.as_str();
    let (service, host) = text.split_once('.')?;
    let service = service.strip_prefix('_')?;
    let is_service = (1..=15).contains(&service.len())
        && service.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let host = HostName::read_single(host)?;
    is_service.then(|| Meaning::OfHost(text.to_owned(), Some(host)))
}

fn utf8(value: &Any) -> Option<&str> {
    Utf8StringRef::try_from(value).ok().map(|text| text.as_str())
}

impl fmt::Display for OtherName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.meaning {
            Meaning::OfHost(text, _) => f.write_str(text),
            Meaning::Email(mailbox) => mailbox.fmt(f),
            Meaning::Unknown => self.oid.fmt(f),
        }
    }
}
