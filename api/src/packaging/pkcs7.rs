//! Certificates alone in a PKCS #7 bag: SignedData that signs nothing (RFC 5652, section 5).

use const_oid::db::rfc5911::{ID_DATA, ID_SIGNED_DATA};
use der::Tag;

use crate::asn1::{self, context};

/// The DER of a ContentInfo with these certificates.
///
/// # Errors
///
/// Only where they are too long for DER.
pub fn certificates(certificates: &[&[u8]]) -> der::Result<Vec<u8>> {
    let oid =
        |oid: der::asn1::ObjectIdentifier| asn1::encode(Tag::ObjectIdentifier, oid.as_bytes());
    // DER writes a SET OF in the order of its encodings; readers sort the chain by its names.
    let mut set = certificates.to_vec();
    set.sort_unstable();
    let empty_set = asn1::encode(Tag::Set, &[])?;
    let signed_data = asn1::sequence(&[
        VERSION_1,
        &empty_set,
        &asn1::sequence(&[&oid(ID_DATA)?])?,
        &asn1::encode(context(0, true), &set.concat())?,
        &empty_set,
    ])?;
    asn1::sequence(&[&oid(ID_SIGNED_DATA)?, &asn1::encode(context(0, true), &signed_data)?])
}

const VERSION_1: &[u8] = &[0x02, 0x01, 0x01];
