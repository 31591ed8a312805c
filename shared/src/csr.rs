//! A certification request (RFC 2986), read strictly and kept as the bytes it came in.

use der::asn1::{AnyRef, BitStringRef};
use der::{Decode as _, ErrorKind, Reader as _, SliceReader, Tag, TagNumber, Tagged as _};

use crate::signature::{self, SignatureError};

/// The parts of a CSR, each the exact DER of the original, tag and length included.
///
/// The signature is verified over the original bytes, never over a re-encoding: attributes or
/// multi-valued RDNs that are not sorted would change under it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csr<'a> {
    /// CertificationRequestInfo: what is signed.
    pub info: &'a [u8],
    /// Subject: a Name.
    pub subject: &'a [u8],
    /// SubjectPublicKeyInfo.
    pub spki: &'a [u8],
    /// Content of the `[0]` attributes: a sequence of Attribute values; empty where the field is
    /// absent, which common clients do although RFC 2986 wants it.
    pub attributes: &'a [u8],
    /// AlgorithmIdentifier beside the signature.
    pub algorithm: &'a [u8],
    /// Content of the signature BIT STRING.
    pub signature: &'a [u8],
}

/// Why bytes are no CSR.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsrError {
    /// Not the DER of a CertificationRequest.
    #[error(
        "it is not the DER of a certification request ({0}); only PKCS #10 (RFC 2986), encoded as \
         DER, passes"
    )]
    NotDer(der::Error),
    /// The bytes end before the length in front of them says.
    #[error("it is incomplete ({0}); send it again, whole")]
    Incomplete(der::Error),
    /// Bytes follow the request.
    #[error("bytes follow the request; it passes without them")]
    TrailingBytes,
    /// A version other than v1 (0).
    #[error("its version is not 0; only version 0, which is called v1, passes (RFC 2986)")]
    Version,
}

impl From<der::Error> for CsrError {
    fn from(error: der::Error) -> Self {
        Self::NotDer(error)
    }
}

/// Where the whole is cut off the sender has more; a part that is too short is whole and wrong.
fn outermost(error: der::Error, der: &[u8]) -> CsrError {
    /// Of a SEQUENCE.
    const TAG: u8 = 0x30;
    match error.kind() {
        ErrorKind::Incomplete { .. } if der.first() == Some(&TAG) => CsrError::Incomplete(error),
        _ => CsrError::NotDer(error),
    }
}

impl<'a> Csr<'a> {
    /// Splits the DER of one CertificationRequest into its parts.
    ///
    /// # Errors
    ///
    /// Indefinite or non-minimal lengths, bytes after the request or after a part, a version
    /// other than 0.
    pub fn from_der(der: &'a [u8]) -> Result<Self, CsrError> {
        let mut reader = SliceReader::new(der)?;
        let request = AnyRef::decode(&mut reader).map_err(|error| outermost(error, der))?;
        if !reader.is_finished() {
            return Err(CsrError::TrailingBytes);
        }
        request.tag().assert_eq(Tag::Sequence)?;

        let mut reader = SliceReader::new(request.value())?;
        let info = reader.tlv_bytes()?;
        let algorithm = reader.tlv_bytes()?;
        let signature = BitStringRef::decode(&mut reader)?;
        reader.finish()?;
        let signature =
            signature.as_bytes().ok_or_else(|| der::Error::from(Tag::BitString.value_error()))?;

        let content = AnyRef::from_der(info)?;
        content.tag().assert_eq(Tag::Sequence)?;
        let mut reader = SliceReader::new(content.value())?;
        // Compared as bytes: a version that is negative or large is one too.
        let version = reader.tlv_bytes()?;
        if version != [0x02, 0x01, 0x00] {
            AnyRef::from_der(version)?.tag().assert_eq(Tag::Integer)?;
            return Err(CsrError::Version);
        }
        let subject = reader.tlv_bytes()?;
        let spki = reader.tlv_bytes()?;
        let attributes = if reader.is_finished() { &[] } else { attributes(reader.tlv_bytes()?)? };
        reader.finish()?;
        Ok(Self { info, subject, spki, attributes, algorithm, signature })
    }

    /// Verifies that whoever made the request holds the private key.
    ///
    /// # Errors
    ///
    /// Says whether key, algorithm or signature is at fault.
    pub fn verify_possession(&self) -> Result<(), SignatureError> {
        signature::verify(self.spki, self.algorithm, self.info, self.signature)
    }
}

fn attributes(tlv: &[u8]) -> Result<&[u8], der::Error> {
    let field = AnyRef::from_der(tlv)?;
    let expected = Tag::ContextSpecific { constructed: true, number: TagNumber(0) };
    field.tag().assert_eq(expected)?;
    Ok(field.value())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_request_that_is_cut_off_is_called_incomplete() {
        for cut in [&[0x30][..], &[0x30, 0x03, 0x02, 0x01], &[0x30, 0x82, 0x01]] {
            assert!(matches!(Csr::from_der(cut), Err(CsrError::Incomplete(_))), "{cut:02x?}");
        }
        for wrong in [
            &[][..],
            &[0x30, 0x00],
            &[0x04, 0x03, 0x02],
            &[0x30, 0x02, 0x30, 0x03],
            &[0x30, 0x06, 0x30, 0x00, 0x30, 0x00, 0x03, 0x03],
        ] {
            assert!(matches!(Csr::from_der(wrong), Err(CsrError::NotDer(_))), "{wrong:02x?}");
        }
    }
}
