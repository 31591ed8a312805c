//! Subject alternative names as DER, read and written.

use std::net::IpAddr;

use chancery_shared::hexadecimal;
use der::asn1::ObjectIdentifier;
use der::{Decode as _, Reader as _, SliceReader, Tag};

use super::distinguished_name::DistinguishedName;
use super::subject_alt_name::SubjectAltName;
use crate::asn1::{self, Tlv, context};

const USER_PRINCIPAL_NAME: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("1.3.6.1.4.1.311.20.2.3");

/// Why a GeneralName can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GeneralNameProblem {
    /// Not DER.
    #[error("it is not well-formed DER ({0}); one list of GeneralNames and nothing behind it is")]
    NotDer(der::Error),
    /// A SEQUENCE of nothing (RFC 5280 wants one name at least).
    #[error("it holds no name at all; put one into it or leave it out")]
    NoName,
    /// An iPAddress that is not 4 or 16 octets.
    #[error("an iPAddress has {0} octets; an address has 4 or 16")]
    AddressLength(usize),
    /// A dNSName, rfc822Name or URI that is not ASCII.
    #[error("{0} holds bytes that are not ASCII; only ASCII passes, so write hosts as A-labels")]
    NotAscii(&'static str),
    /// x400Address, ediPartyName, or a tag that no GeneralName has.
    #[error(
        "it holds {kind} (tag {0:#04x}); dNSName, iPAddress, rfc822Name, URI, otherName, \
         directoryName and registeredID are taken",
        kind = kind_name(*.0)
    )]
    Kind(u8),
}

impl From<der::Error> for GeneralNameProblem {
    fn from(error: der::Error) -> Self {
        Self::NotDer(error)
    }
}

fn kind_name(tag: u8) -> &'static str {
    match tag {
        0xa3 => "an x400Address, which is not taken",
        0xa5 => "an ediPartyName, which is not taken",
        _ => "what is no GeneralName",
    }
}

impl SubjectAltName {
    /// Reads the value of a subjectAltName extension: GeneralNames.
    ///
    /// # Errors
    ///
    /// Any name that can't be read, for a name that is dropped in silence misleads. What the
    /// names say is not judged here.
    pub fn read_all(der: &[u8]) -> Result<Vec<Self>, GeneralNameProblem> {
        let names = Tlv::read(der)?.expect(Tag::Sequence)?.children()?;
        if names.is_empty() {
            return Err(GeneralNameProblem::NoName);
        }
        names.iter().map(Self::read).collect()
    }

    /// The names of a certificate from anywhere, as the record shows them. One that can't be read
    /// is shown in hexadecimal; `None` where the list itself can't be read.
    pub(crate) fn show_all(der: &[u8]) -> Option<Vec<String>> {
        let names = Tlv::read(der).ok()?.expect(Tag::Sequence).ok()?.children().ok()?;
        Some(names.iter().map(Self::show).collect())
    }

    fn show(name: &Tlv<'_>) -> String {
        let kind = match name.der.first() {
            Some(0x81) => "EMAIL",
            Some(0x82) => "DNS",
            Some(0x86) => "URI",
            _ => "UNKNOWN",
        };
        match (Self::read(name), std::str::from_utf8(name.content)) {
            (Ok(name), _) => name.to_string(),
            (Err(_), Ok(text)) if kind != "UNKNOWN" => format!("{kind}:{text}"),
            (Err(_), _) => format!("UNKNOWN:{}", hexadecimal::encode(name.der)),
        }
    }

    fn read(name: &Tlv<'_>) -> Result<Self, GeneralNameProblem> {
        let text = |kind| {
            let ascii = name.content.is_ascii().then_some(name.content);
            let ascii = ascii.ok_or(GeneralNameProblem::NotAscii(kind))?;
            Ok::<_, GeneralNameProblem>(ascii.iter().copied().map(char::from).collect::<String>())
        };
        let tag = name.der.first().copied().unwrap_or_default();
        Ok(match tag {
            0xa0 => other_name(name.content)?,
            0x81 => Self::Rfc822Name(text("an rfc822Name")?),
            0x82 => Self::DnsName(text("a dNSName")?),
            0xa4 => Self::DirectoryName(DistinguishedName::from_der(name.content)?),
            0x86 => Self::Uri(text("a URI")?),
            0x87 => Self::IpAddress(ip_address(name.content)?),
            0x88 => {
                let id = ObjectIdentifier::from_bytes(name.content);
                Self::RegisteredId(id.map_err(der::Error::from)?)
            }
            _ => return Err(GeneralNameProblem::Kind(tag)),
        })
    }

    /// The DER of the GeneralName.
    pub(crate) fn to_der(&self) -> der::Result<Vec<u8>> {
        match self {
            Self::Rfc822Name(address) => asn1::encode(context(1, false), address.as_bytes()),
            Self::DnsName(name) => asn1::encode(context(2, false), name.as_bytes()),
            Self::Uri(uri) => asn1::encode(context(6, false), uri.as_bytes()),
            Self::IpAddress(IpAddr::V4(ip)) => asn1::encode(context(7, false), &ip.octets()),
            Self::IpAddress(IpAddr::V6(ip)) => asn1::encode(context(7, false), &ip.octets()),
            Self::RegisteredId(id) => asn1::encode(context(8, false), id.as_bytes()),
            // The Name is a CHOICE, so its tag is explicit (X.680, section 31.2.7).
            Self::DirectoryName(name) => asn1::encode(context(4, true), name.der()),
            Self::UserPrincipalName(name) => {
                let value = asn1::encode(Tag::Utf8String, name.as_bytes())?;
                other_name_der(USER_PRINCIPAL_NAME, &value)
            }
            Self::OtherName { type_id, value } => other_name_der(*type_id, value),
        }
    }

    /// The value of a subjectAltName extension with these names.
    pub(crate) fn all_to_der(names: &[Self]) -> der::Result<Vec<u8>> {
        let names = names.iter().map(Self::to_der).collect::<der::Result<Vec<_>>>()?;
        asn1::encode(Tag::Sequence, &names.concat())
    }
}

fn other_name(content: &[u8]) -> Result<SubjectAltName, GeneralNameProblem> {
    let mut reader = SliceReader::new(content)?;
    let type_id = ObjectIdentifier::decode(&mut reader)?;
    let wrapped = Tlv::next(&mut reader)?.expect(context(0, true))?;
    reader.finish()?;
    let value = Tlv::read(wrapped.content)?;
    let user = std::str::from_utf8(value.content).ok();
    Ok(match user.filter(|_| type_id == USER_PRINCIPAL_NAME && value.tag == Tag::Utf8String) {
        Some(user) => SubjectAltName::UserPrincipalName(user.to_owned()),
        None => SubjectAltName::OtherName { type_id, value: value.der.to_vec() },
    })
}

fn other_name_der(type_id: ObjectIdentifier, value: &[u8]) -> der::Result<Vec<u8>> {
    let type_id = asn1::encode(Tag::ObjectIdentifier, type_id.as_bytes())?;
    let value = asn1::encode(context(0, true), value)?;
    asn1::encode(context(0, true), &[type_id, value].concat())
}

fn ip_address(octets: &[u8]) -> Result<IpAddr, GeneralNameProblem> {
    if let Ok(v4) = <[u8; 4]>::try_from(octets) {
        return Ok(v4.into());
    }
    <[u8; 16]>::try_from(octets)
        .map(IpAddr::from)
        .map_err(|_| GeneralNameProblem::AddressLength(octets.len()))
}

#[cfg(test)]
mod tests;
