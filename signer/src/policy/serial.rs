//! Serial numbers by construction: each is a hash of its nonce and of all that it stands in.

use aws_lc_rs::digest::{Context, SHA256};
use chancery_shared::bytes::SerialNonce;
use der::asn1::AnyRef;
use der::{Decode as _, Reader as _, SliceReader, Tag, Tagged as _};

use super::violation::PolicyViolation;

/// What stands in the serial's place while it is computed.
const PLACEHOLDER: [u8; 20] = [0x40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

/// The serial number that `tbs` must carry with this nonce: the first 20 bytes of
/// SHA-256(nonce ‖ `tbs` with the serial's octets set to `40 00 … 00`), with the two top bits of
/// the first byte set to 01.
///
/// So it is positive and always 20 octets (RFC 5280, section 4.1.2.2), no requester can predict
/// it, and two certificates that share one cost about 2^79 hashes.
///
/// # Errors
///
/// `tbs` is not the DER of a TBSCertificate as far as its serial number, or that is not a
/// positive INTEGER of 20 octets.
pub fn serial_number(nonce: &SerialNonce, tbs: &[u8]) -> Result<[u8; 20], PolicyViolation> {
    let (before, _, after) = split(tbs)?;
    let mut hash = Context::new(&SHA256);
    hash.update(&nonce.0);
    hash.update(before);
    hash.update(&PLACEHOLDER);
    hash.update(after);
    let hash = hash.finish();
    let Some(&[first, rest @ ..]) = hash.as_ref().first_chunk::<20>() else {
        return Err(PolicyViolation::SerialForm);
    };
    let mut serial = [0; 20];
    let [head, tail @ ..] = &mut serial;
    *head = first & 0x3f | 0x40;
    *tail = rest;
    Ok(serial)
}

/// The serial number of `tbs`, which must be the one of its construction.
pub(super) fn check(nonce: &SerialNonce, tbs: &[u8]) -> Result<[u8; 20], PolicyViolation> {
    let (_, serial, _) = split(tbs)?;
    let expected = serial_number(nonce, tbs)?;
    if *serial == expected { Ok(expected) } else { Err(PolicyViolation::SerialConstruction) }
}

/// What stands before the serial's octets, these octets, and what stands behind them.
type AroundSerial<'a> = (&'a [u8], &'a [u8; 20], &'a [u8]);

fn split(tbs: &[u8]) -> Result<AroundSerial<'_>, PolicyViolation> {
    let rest = behind_serial(tbs).map_err(PolicyViolation::NotDer)?;
    let (head, after) = tbs
        .len()
        .checked_sub(rest)
        .and_then(|at| tbs.split_at_checked(at))
        .ok_or(PolicyViolation::SerialForm)?;
    let (head, serial) = head.split_last_chunk::<20>().ok_or(PolicyViolation::SerialForm)?;
    // The tag and length of a 20-octet INTEGER; its first octet is neither a sign nor padding.
    if !head.ends_with(&[0x02, 20]) || !matches!(serial.first(), Some(0x01..=0x7f)) {
        return Err(PolicyViolation::SerialForm);
    }
    Ok((head, serial, after))
}

/// How many bytes follow the serial number.
fn behind_serial(tbs: &[u8]) -> der::Result<usize> {
    let content = AnyRef::from_der(tbs)?;
    content.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(content.value())?;
    let first = reader.tlv_bytes()?;
    // The version `[0]` is absent in v1; the serial number comes next.
    if first.first() == Some(&0xa0) {
        reader.tlv_bytes()?;
    }
    reader.remaining_len().try_into()
}
