//! Attribute types of distinguished names: how they are written, and what they may hold.

use der::asn1::ObjectIdentifier;

/// One row of [`ATTRIBUTE_TYPES`].
#[derive(Debug, PartialEq, Eq)]
pub struct AttributeType {
    /// Its object identifier.
    pub oid: ObjectIdentifier,
    /// How it is shown: the keyword of RFC 4514, section 3, where there is one.
    pub keyword: &'static str,
    /// What else people type for it. Case never matters.
    pub aliases: &'static [&'static str],
    /// Most characters that a value may have (RFC 5280, appendix A; X.520).
    pub upper_bound: usize,
    /// Which string type a value is written as.
    pub syntax: Syntax,
}

/// Which string type a value is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// DirectoryString: PrintableString where that is enough, else UTF8String.
    Directory,
    /// PrintableString alone.
    Printable,
    /// PrintableString of two letters.
    Country,
    /// IA5String: ASCII.
    Ia5,
    /// DirectoryString or IA5String (PKCS #9).
    Unstructured,
}

const fn row(
    oid: &str,
    keyword: &'static str,
    aliases: &'static [&'static str],
    upper_bound: usize,
    syntax: Syntax,
) -> AttributeType {
    AttributeType { oid: ObjectIdentifier::new_unwrap(oid), keyword, aliases, upper_bound, syntax }
}

/// commonName.
pub const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");
/// countryName.
pub const COUNTRY: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.6");
/// organizationName.
pub const ORGANIZATION: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.10");
/// organizationalUnitName.
pub const ORGANIZATIONAL_UNIT: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.11");
/// domainComponent (RFC 4519).
pub const DOMAIN_COMPONENT: ObjectIdentifier =
    ObjectIdentifier::new_unwrap("0.9.2342.19200300.100.1.25");
/// emailAddress of PKCS #9.
pub const EMAIL_ADDRESS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.1");

/// Every type with a keyword. Others are written and shown by their object identifier.
pub static ATTRIBUTE_TYPES: &[AttributeType] = {
    use Syntax::{Country, Directory, Ia5, Printable, Unstructured};
    &[
        row("2.5.4.3", "CN", &["commonName"], 64, Directory),
        row("2.5.4.10", "O", &["organizationName", "org"], 64, Directory),
        row("2.5.4.11", "OU", &["organizationalUnitName"], 64, Directory),
        row("2.5.4.6", "C", &["countryName", "country"], 2, Country),
        row("2.5.4.7", "L", &["localityName", "locality"], 128, Directory),
        row("2.5.4.8", "ST", &["S", "SP", "stateOrProvinceName", "state"], 128, Directory),
        row("2.5.4.9", "STREET", &["streetAddress"], 128, Directory),
        row("0.9.2342.19200300.100.1.25", "DC", &["domainComponent"], 63, Ia5),
        row("0.9.2342.19200300.100.1.1", "UID", &["userId"], 256, Directory),
        row("1.2.840.113549.1.9.1", "emailAddress", &["E", "email"], 255, Ia5),
        row("2.5.4.5", "serialNumber", &[], 64, Printable),
        row("2.5.4.12", "title", &["T"], 64, Directory),
        row("2.5.4.42", "GN", &["givenName", "G"], 32_768, Directory),
        row("2.5.4.4", "SN", &["surname"], 32_768, Directory),
        row("2.5.4.43", "initials", &["I"], 32_768, Directory),
        row("2.5.4.44", "generationQualifier", &[], 32_768, Directory),
        row("2.5.4.46", "dnQualifier", &["dnq"], 64, Printable),
        row("2.5.4.65", "pseudonym", &[], 128, Directory),
        row("2.5.4.41", "name", &[], 32_768, Directory),
        row("2.5.4.13", "description", &[], 1_024, Directory),
        row("2.5.4.15", "businessCategory", &[], 128, Directory),
        row("2.5.4.17", "postalCode", &[], 40, Directory),
        row("2.5.4.20", "telephoneNumber", &[], 32, Printable),
        row("2.5.4.97", "organizationIdentifier", &[], 256, Directory),
        row("1.2.840.113549.1.9.2", "unstructuredName", &[], 255, Unstructured),
        row("1.2.840.113549.1.9.8", "unstructuredAddress", &[], 255, Directory),
        row("1.3.6.1.4.1.311.60.2.1.3", "jurisdictionC", &["jurisdictionCountryName"], 2, Country),
        row(
            "1.3.6.1.4.1.311.60.2.1.2",
            "jurisdictionST",
            &["jurisdictionStateOrProvinceName"],
            128,
            Directory,
        ),
        row(
            "1.3.6.1.4.1.311.60.2.1.1",
            "jurisdictionL",
            &["jurisdictionLocalityName"],
            128,
            Directory,
        ),
    ]
};

impl AttributeType {
    /// The row of this object identifier.
    pub fn by_oid(oid: ObjectIdentifier) -> Option<&'static Self> {
        ATTRIBUTE_TYPES.iter().find(|row| row.oid == oid)
    }

    /// The row that a person means by this keyword, in any case.
    pub fn by_keyword(keyword: &str) -> Option<&'static Self> {
        ATTRIBUTE_TYPES.iter().find(|row| {
            row.keyword.eq_ignore_ascii_case(keyword)
                || row.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(keyword))
        })
    }
}

/// How a type is shown: its keyword, or the dotted object identifier.
pub fn shown(oid: ObjectIdentifier) -> String {
    AttributeType::by_oid(oid).map_or_else(|| oid.to_string(), |row| row.keyword.to_owned())
}
