//! A certificate from its TBS and its signature, byte for byte (RFC 5280, section 4.1).

use der::asn1::{AnyRef, BitStringRef};
use der::{Decode as _, Encode as _, Reader as _, SliceReader, Tag, Tagged as _};

/// The DER of the Certificate: the exact TBS that was signed, the algorithm that it names, and
/// the signature.
///
/// # Errors
///
/// `tbs` is not the DER of a TBSCertificate as far as its `signature` field.
pub fn assemble(tbs: &[u8], signature: &[u8]) -> der::Result<Vec<u8>> {
    let content = AnyRef::from_der(tbs)?;
    content.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(content.value())?;
    let first = reader.tlv_bytes()?;
    // The version `[0]` is absent in v1; the serial number comes next.
    if first.first() == Some(&0xa0) {
        reader.tlv_bytes()?;
    }
    let algorithm = reader.tlv_bytes()?;

    let mut body = Vec::with_capacity(tbs.len() + algorithm.len() + signature.len() + 16);
    body.extend(tbs);
    body.extend(algorithm);
    BitStringRef::from_bytes(signature)?.encode_to_vec(&mut body)?;
    AnyRef::new(Tag::Sequence, &body)?.to_der()
}
