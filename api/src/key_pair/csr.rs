//! A CSR of our own: whoever certifies a key wants its possession proved, this service too.

use aws_lc_rs::error::Unspecified;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use der::{Tag, asn1::ObjectIdentifier};

use super::KeyPair;
use crate::asn1::{context, encode, sequence};
use crate::name::{DistinguishedName, SubjectAltName};

/// extensionRequest (RFC 2985, section 5.4.2).
const EXTENSION_REQUEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14");
const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum CsrError {
    /// The crypto library made no signature.
    #[error("the crypto library made no signature")]
    Crypto(#[from] Unspecified),
    /// A name is too long for DER.
    #[error("the request can't be written as DER")]
    Der(#[from] der::Error),
}

impl KeyPair {
    /// DER of a CertificationRequest (RFC 2986) for these names, signed with this key.
    ///
    /// # Errors
    ///
    /// See [`CsrError`]. An algorithm that is not one of this key is [`CsrError::Crypto`].
    pub fn csr(
        &self,
        subject: &DistinguishedName,
        names: &[SubjectAltName],
        how: SignatureAlgorithm,
    ) -> Result<Vec<u8>, CsrError> {
        const VERSION_1: &[u8] = &[0x02, 0x01, 0x00];
        let attributes = encode(context(0, true), &extension_request(subject, names)?)?;
        let info = sequence(&[VERSION_1, subject.der(), self.spki(), &attributes])?;
        // Every octet of a BIT STRING here is whole: none of its bits is unused.
        let signature = [&[0], self.sign(how, &info)?.as_slice()].concat();
        let signature = encode(Tag::BitString, &signature)?;
        Ok(sequence(&[&info, how.algorithm_identifier(), &signature])?)
    }
}

/// Nothing where there are no names.
fn extension_request(
    subject: &DistinguishedName,
    names: &[SubjectAltName],
) -> der::Result<Vec<u8>> {
    const CRITICAL: &[u8] = &[0x01, 0x01, 0xff];
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let oid = |oid: ObjectIdentifier| encode(Tag::ObjectIdentifier, oid.as_bytes());
    let value = encode(Tag::OctetString, &SubjectAltName::all_to_der(names)?)?;
    let critical = if subject.is_empty() { CRITICAL } else { &[] };
    let extension = sequence(&[&oid(SUBJECT_ALT_NAME)?, critical, &value])?;
    let values = encode(Tag::Set, &sequence(&[&extension])?)?;
    sequence(&[&oid(EXTENSION_REQUEST)?, &values])
}
