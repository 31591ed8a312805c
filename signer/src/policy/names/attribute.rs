//! Attributes of distinguished names: string types, characters and upper bounds (RFC 5280,
//! appendix A.1, and X.520 for the ones that it does not list).

use der::asn1::{Any, BmpString, ObjectIdentifier};
use der::{Encode as _, Tag, Tagged as _};

use super::host_name;
use crate::policy::strict;
use crate::policy::violation::PolicyViolation;

/// How a type's values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strings {
    /// DirectoryString: PrintableString, UTF8String, and for names that exist so already
    /// BMPString and TeletexString (RFC 5280, section 4.1.2.6).
    Directory,
    /// PrintableString alone.
    Printable,
    /// PrintableString of two letters.
    Country,
    /// IA5String alone.
    Ia5,
    /// DirectoryString or IA5String (PKCS #9, and types that no rule is known for).
    Any,
}

const fn oid(text: &str) -> ObjectIdentifier {
    ObjectIdentifier::new_unwrap(text)
}

/// commonName.
pub(super) const COMMON_NAME: ObjectIdentifier = oid("2.5.4.3");
/// emailAddress (PKCS #9).
pub(super) const EMAIL_ADDRESS: ObjectIdentifier = oid("1.2.840.113549.1.9.1");

/// domainComponent (RFC 4519).
const DOMAIN_COMPONENT: ObjectIdentifier = oid("0.9.2342.19200300.100.1.25");

/// The types with rules of their own: strings and most characters.
const TYPES: &[(ObjectIdentifier, Strings, usize)] = &[
    (COMMON_NAME, Strings::Directory, 64),
    (oid("2.5.4.4"), Strings::Directory, 32_768), // surname
    (oid("2.5.4.5"), Strings::Printable, 64),     // serialNumber
    (oid("2.5.4.6"), Strings::Country, 2),        // countryName
    (oid("2.5.4.7"), Strings::Directory, 128),    // localityName
    (oid("2.5.4.8"), Strings::Directory, 128),    // stateOrProvinceName
    (oid("2.5.4.9"), Strings::Directory, 128),    // streetAddress
    (oid("2.5.4.10"), Strings::Directory, 64),    // organizationName
    (oid("2.5.4.11"), Strings::Directory, 64),    // organizationalUnitName
    (oid("2.5.4.12"), Strings::Directory, 64),    // title
    (oid("2.5.4.13"), Strings::Directory, 1024),  // description
    (oid("2.5.4.15"), Strings::Directory, 128),   // businessCategory
    (oid("2.5.4.17"), Strings::Directory, 40),    // postalCode
    (oid("2.5.4.20"), Strings::Printable, 32),    // telephoneNumber
    (oid("2.5.4.41"), Strings::Directory, 32_768), // name
    (oid("2.5.4.42"), Strings::Directory, 32_768), // givenName
    (oid("2.5.4.43"), Strings::Directory, 32_768), // initials
    (oid("2.5.4.44"), Strings::Directory, 32_768), // generationQualifier
    (oid("2.5.4.46"), Strings::Printable, 32_768), // dnQualifier
    (oid("2.5.4.65"), Strings::Directory, 128),   // pseudonym
    (oid("2.5.4.97"), Strings::Directory, 32_768), // organizationIdentifier
    (oid("0.9.2342.19200300.100.1.1"), Strings::Directory, 256), // userId
    (DOMAIN_COMPONENT, Strings::Ia5, 63),
    (EMAIL_ADDRESS, Strings::Ia5, 255),
    (oid("1.2.840.113549.1.9.2"), Strings::Any, 255), // unstructuredName
    (oid("1.2.840.113549.1.9.8"), Strings::Directory, 255), // unstructuredAddress
    (oid("1.3.6.1.4.1.311.60.2.1.1"), Strings::Directory, 128), // jurisdiction: locality
    (oid("1.3.6.1.4.1.311.60.2.1.2"), Strings::Directory, 128), // jurisdiction: state
    (oid("1.3.6.1.4.1.311.60.2.1.3"), Strings::Country, 2), // jurisdiction: country
];

/// The value as text, if its type allows it.
pub(super) fn text(oid: ObjectIdentifier, value: &Any) -> Result<String, PolicyViolation> {
    let (strings, max) = TYPES
        .iter()
        .find(|(known, ..)| *known == oid)
        .map_or((Strings::Any, 32_768), |(_, strings, max)| (*strings, *max));
    let allows = match value.tag() {
        Tag::PrintableString => strings != Strings::Ia5,
        Tag::Utf8String | Tag::BmpString | Tag::TeletexString => {
            matches!(strings, Strings::Directory | Strings::Any)
        }
        Tag::Ia5String => matches!(strings, Strings::Ia5 | Strings::Any),
        _ => false,
    };
    let text = decoded(value).filter(|_| allows).ok_or(PolicyViolation::StringType(oid))?;
    if text.chars().any(is_unseen) {
        return Err(PolicyViolation::Characters(oid));
    }
    if strings == Strings::Country {
        let is_country = text.len() == 2 && text.bytes().all(|b| b.is_ascii_alphabetic());
        return if is_country { Ok(text) } else { Err(PolicyViolation::Country) };
    }
    if text.is_empty() || text.chars().count() > max {
        return Err(PolicyViolation::AttributeLength(oid, max));
    }
    if oid == DOMAIN_COMPONENT && !host_name::is_label(&text) {
        return Err(PolicyViolation::DomainComponent(text));
    }
    Ok(text)
}

fn decoded(value: &Any) -> Option<String> {
    let bytes = value.value();
    let is_plain = match value.tag() {
        Tag::Utf8String => true,
        Tag::PrintableString => bytes.iter().all(|byte| is_printable(*byte)),
        // What TeletexString means beyond ASCII depends on whom one asks.
        Tag::Ia5String | Tag::TeletexString => bytes.is_ascii(),
        Tag::BmpString => {
            let text: BmpString = strict::exactly(&value.to_der().ok()?).ok()?;
            return Some(text.to_string());
        }
        _ => false,
    };
    if is_plain { String::from_utf8(bytes.to_vec()).ok() } else { None }
}

/// X.680, section 41.4.
fn is_printable(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b" '()+,-./:=?".contains(&byte)
}

/// Control characters, line ends, and what hides or reorders other characters: names are read by
/// people, in lists, mails and logs.
pub(in crate::policy) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{200b}' | '\u{2028}'..='\u{202e}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}
