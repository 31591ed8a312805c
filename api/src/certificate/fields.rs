//! A certificate taken apart, as tolerantly as certificates from elsewhere need it.
//!
//! What stands in it is shown as it stands; nothing here decides whether it may be trusted.

use der::asn1::{ObjectIdentifier, OctetStringRef};
use der::{Decode as _, Reader as _, SliceReader, Tag};
use time::OffsetDateTime;

use super::{extension_oid, moment};
use crate::asn1::{Tlv, context};

/// The parts of a certificate, each the exact bytes of the original.
#[derive(Clone, Debug)]
pub struct CertificateFields<'a> {
    /// DER of the TBSCertificate: what is signed.
    pub tbs: &'a [u8],
    /// DER of the AlgorithmIdentifier inside it.
    pub tbs_signature_algorithm: &'a [u8],
    /// The bits of the signature; none where they are no whole octets.
    pub signature: &'a [u8],
    /// Content of the INTEGER, sign octet included.
    pub serial_number: &'a [u8],
    /// DER of the issuer, a Name.
    pub issuer: &'a [u8],
    /// First second of its life.
    pub not_before: OffsetDateTime,
    /// Last second of its life.
    pub not_after: OffsetDateTime,
    /// DER of the subject, a Name.
    pub subject: &'a [u8],
    /// DER of the SubjectPublicKeyInfo.
    pub spki: &'a [u8],
    /// DER of the AlgorithmIdentifier beside the signature.
    pub signature_algorithm: &'a [u8],
    /// In order; of versions before 3 there are none.
    pub extensions: Vec<ExtensionField<'a>>,
}

/// One extension.
#[derive(Clone, Copy, Debug)]
pub struct ExtensionField<'a> {
    /// Which.
    pub oid: ObjectIdentifier,
    /// DER of its value.
    pub value: &'a [u8],
}

/// The bytes are no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not the DER of a certificate ({0})")]
pub struct NotACertificate(pub der::Error);

impl From<der::Error> for NotACertificate {
    fn from(error: der::Error) -> Self {
        Self(error)
    }
}

impl<'a> CertificateFields<'a> {
    /// Reads the DER of one certificate of any version.
    ///
    /// # Errors
    ///
    /// Its structure is not that of RFC 5280, section 4.1, or something follows it.
    pub fn read(der: &'a [u8]) -> Result<Self, NotACertificate> {
        let outer = Tlv::read(der)?.expect(Tag::Sequence)?;
        let mut reader = SliceReader::new(outer.content)?;
        let tbs = Tlv::next(&mut reader)?.expect(Tag::Sequence)?;
        let signature_algorithm = Tlv::next(&mut reader)?.expect(Tag::Sequence)?.der;
        let signature = match Tlv::next(&mut reader)?.expect(Tag::BitString)?.content {
            [0, octets @ ..] => octets,
            _ => &[],
        };
        reader.finish()?;

        let mut reader = SliceReader::new(tbs.content)?;
        let mut first = Tlv::next(&mut reader)?;
        if first.tag == context(0, true) {
            first = Tlv::next(&mut reader)?;
        }
        let serial_number = first.expect(Tag::Integer)?.content;
        let tbs_signature_algorithm = Tlv::next(&mut reader)?.der;
        let issuer = Tlv::next(&mut reader)?.der;
        let validity = Tlv::next(&mut reader)?.expect(Tag::Sequence)?.children()?;
        let [not_before, not_after] = validity.as_slice() else {
            return Err(NotACertificate(Tag::Sequence.length_error().into()));
        };
        let subject = Tlv::next(&mut reader)?.der;
        let spki = Tlv::next(&mut reader)?.der;
        let mut extensions = Vec::new();
        while !reader.is_finished() {
            // Unique identifiers may stand between key and extensions.
            let field = Tlv::next(&mut reader)?;
            if field.tag == context(3, true) {
                extensions = read_extensions(field.content)?;
            }
        }
        Ok(Self {
            tbs: tbs.der,
            tbs_signature_algorithm,
            signature,
            serial_number,
            issuer,
            not_before: moment::read(not_before)?,
            not_after: moment::read(not_after)?,
            subject,
            spki,
            signature_algorithm,
            extensions,
        })
    }

    /// The values of the extension; more than one where the certificate has it more than once.
    pub fn extension(&self, oid: ObjectIdentifier) -> impl Iterator<Item = &'a [u8]> {
        self.extensions.iter().filter(move |e| e.oid == oid).map(|e| e.value)
    }

    /// What the values of the extension list, those that can't be read passed over.
    pub(super) fn each<T>(
        &self,
        oid: ObjectIdentifier,
        read: impl Fn(&'a [u8]) -> Option<Vec<T>>,
    ) -> Vec<T> {
        self.extension(oid).filter_map(read).flatten().collect()
    }

    /// Content of subjectKeyIdentifier.
    pub fn subject_key_identifier(&self) -> Option<&'a [u8]> {
        let value = self.extension(extension_oid::SUBJECT_KEY_IDENTIFIER).next()?;
        Some(Tlv::read(value).ok()?.expect(Tag::OctetString).ok()?.content)
    }

    /// The keyIdentifier of authorityKeyIdentifier.
    pub fn authority_key_identifier(&self) -> Option<&'a [u8]> {
        let value = self.extension(extension_oid::AUTHORITY_KEY_IDENTIFIER).next()?;
        let parts = Tlv::read(value).ok()?.children().ok()?;
        parts.iter().find(|part| part.tag == context(0, false)).map(|part| part.content)
    }
}

fn read_extensions(explicit: &[u8]) -> der::Result<Vec<ExtensionField<'_>>> {
    let mut extensions = Vec::new();
    for extension in Tlv::read(explicit)?.expect(Tag::Sequence)?.children()? {
        let mut reader = SliceReader::new(extension.expect(Tag::Sequence)?.content)?;
        let oid = ObjectIdentifier::decode(&mut reader)?;
        if Tag::peek(&reader)? == Tag::Boolean {
            Tlv::next(&mut reader)?;
        }
        let value = <&OctetStringRef>::decode(&mut reader)?.as_bytes();
        reader.finish()?;
        extensions.push(ExtensionField { oid, value });
    }
    Ok(extensions)
}
