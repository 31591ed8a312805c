//! A distinguished name: the exact DER it came in, and the text of RFC 4514 for people.

use std::fmt;

use chancery_shared::hexadecimal;
use der::asn1::ObjectIdentifier;
use der::{Decode as _, Reader as _, SliceReader, Tag};

use super::attribute_type::{self, COMMON_NAME};
use super::directory_string;
use crate::asn1::{self, Tlv};

/// A Name (RFC 5280, section 4.1.2.4), kept byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistinguishedName {
    der: Vec<u8>,
    rdns: Vec<Vec<Attribute>>,
}

/// One attribute of a relative distinguished name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its type.
    pub type_id: ObjectIdentifier,
    /// DER of its value, tag and length included.
    pub value: Vec<u8>,
}

impl Attribute {
    /// The value as text; `None` where it is no string.
    pub fn text(&self) -> Option<String> {
        directory_string::decode_value(&self.value)
    }

    fn to_der(&self) -> der::Result<Vec<u8>> {
        let type_id = asn1::encode(Tag::ObjectIdentifier, self.type_id.as_bytes())?;
        asn1::sequence(&[&type_id, &self.value])
    }
}

impl DistinguishedName {
    /// The name without any attribute.
    pub fn empty() -> Self {
        Self { der: vec![0x30, 0x00], rdns: Vec::new() }
    }

    /// Reads the DER of a Name. What its values hold is not judged here.
    ///
    /// # Errors
    ///
    /// It is not the DER of a Name. A value of a type that DER readers don't know is no error.
    pub fn from_der(der: &[u8]) -> der::Result<Self> {
        let mut rdns = Vec::new();
        for set in Tlv::read(der)?.expect(Tag::Sequence)?.children()? {
            let mut rdn = Vec::new();
            for pair in set.expect(Tag::Set)?.children()? {
                let mut reader = SliceReader::new(pair.expect(Tag::Sequence)?.content)?;
                let type_id = ObjectIdentifier::decode(&mut reader)?;
                let value = reader.read_slice(reader.remaining_len())?;
                rdn.push(Attribute { type_id, value: value.to_vec() });
            }
            rdns.push(rdn);
        }
        Ok(Self { der: der.to_vec(), rdns })
    }

    /// A name of these RDNs, in the order of the DER; the attributes of one are put in DER's order.
    ///
    /// # Errors
    ///
    /// Only where a value is too long for DER.
    pub(crate) fn from_rdns(mut rdns: Vec<Vec<Attribute>>) -> der::Result<Self> {
        let mut content = Vec::new();
        for rdn in &mut rdns {
            let mut pairs = Vec::new();
            for attribute in rdn.drain(..) {
                pairs.push((attribute.to_der()?, attribute));
            }
            pairs.sort_by(|(a, _), (b, _)| a.cmp(b));
            let set: Vec<u8> = pairs.iter().flat_map(|(der, _)| der).copied().collect();
            content.extend(asn1::encode(Tag::Set, &set)?);
            rdn.extend(pairs.into_iter().map(|(_, attribute)| attribute));
        }
        Ok(Self { der: asn1::encode(Tag::Sequence, &content)?, rdns })
    }

    /// The same RDNs, first to last turned; each RDN's bytes stay as they are.
    ///
    /// # Errors
    ///
    /// None for a name that was read before.
    pub fn reversed(&self) -> der::Result<Self> {
        let mut sets: Vec<&[u8]> =
            Tlv::read(&self.der)?.children()?.into_iter().map(|set| set.der).collect();
        sets.reverse();
        Self::from_der(&asn1::sequence(&sets)?)
    }

    /// The exact DER.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The RDNs in the order of the DER.
    pub fn rdns(&self) -> &[Vec<Attribute>] {
        &self.rdns
    }

    /// Every attribute in the order of the DER.
    pub fn attributes(&self) -> impl Iterator<Item = &Attribute> {
        self.rdns.iter().flatten()
    }

    /// Whether there is no attribute at all.
    pub fn is_empty(&self) -> bool {
        self.rdns.is_empty()
    }

    /// The commonName; of several the last in the DER, which is the most specific one.
    pub fn common_name(&self) -> Option<String> {
        self.texts(COMMON_NAME).last()
    }

    /// The values of one type that are text, in the order of the DER.
    pub fn texts(&self, type_id: ObjectIdentifier) -> impl Iterator<Item = String> {
        self.attributes().filter(move |a| a.type_id == type_id).filter_map(Attribute::text)
    }
}

/// The string of RFC 4514: the last RDN of the DER first, with `, ` between RDNs. Within one, which
/// has no order, the last attribute comes first too, as OpenSSL has it.
impl fmt::Display for DistinguishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, rdn) in self.rdns.iter().rev().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            for (i, attribute) in rdn.iter().rev().enumerate() {
                f.write_str(if i == 0 { "" } else { "+" })?;
                fmt::Display::fmt(attribute, f)?;
            }
        }
        Ok(())
    }
}

/// `type=value`. A type without a keyword has its value in hexadecimal (RFC 4514, section 2.4).
impl fmt::Display for Attribute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", attribute_type::shown(self.type_id))?;
        match self.text() {
            Some(text) if attribute_type::AttributeType::by_oid(self.type_id).is_some() => {
                f.write_str(&directory_string::escape(&text))
            }
            _ => write!(f, "#{}", hexadecimal::encode(&self.value)),
        }
    }
}
