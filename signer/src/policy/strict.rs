//! Strict DER (X.690, sections 10 and 11): every value in its one encoding, or none.

use std::collections::BTreeSet;

use der::asn1::{
    AnyRef, BitStringRef, GeneralizedTime, Ia5StringRef, IntRef, ObjectIdentifier, UtcTime,
    Utf8StringRef,
};
use der::{Decode, Encode, ErrorKind, Reader as _, SliceReader, Tag, Tagged as _};

/// Nothing in a certificate nests deeper; a limit, so that no input can exhaust the stack.
const MAX_DEPTH: u8 = 32;

/// Reads `der` as a `T` and nothing else: what it means, encoded again, must be the same bytes.
///
/// This finds what no walk can see, such as a DEFAULT that is written out.
pub(super) fn exactly<'a, T>(der: &'a [u8]) -> der::Result<T>
where
    T: Decode<'a, Error = der::Error> + Encode,
{
    let value = T::from_der(der)?;
    if value.to_der()? == der {
        Ok(value)
    } else {
        Err(ErrorKind::Noncanonical { tag: Tag::Sequence }.into())
    }
}

/// The first type that stands there a second time; in time that many types can't stretch.
pub(super) fn first_repeated(
    types: impl Iterator<Item = ObjectIdentifier>,
) -> Option<ObjectIdentifier> {
    let mut seen = BTreeSet::new();
    types.into_iter().find(|oid| !seen.insert(*oid))
}

/// Walks `der`, one value of any type, down to its leaves. Each must be encoded as DER has it.
pub(super) fn walk(der: &[u8]) -> der::Result<()> {
    value(AnyRef::from_der(der)?, MAX_DEPTH)
}

fn value(any: AnyRef<'_>, depth: u8) -> der::Result<()> {
    let tag = any.tag();
    match tag {
        Tag::Sequence
        | Tag::Set
        | Tag::ContextSpecific { constructed: true, .. }
        | Tag::Application { constructed: true, .. }
        | Tag::Private { constructed: true, .. } => children(any, depth),
        Tag::Boolean => any.decode_as::<bool>().map(drop),
        Tag::Integer => any.decode_as::<IntRef<'_>>().map(drop),
        Tag::Null if !any.value().is_empty() => Err(tag.length_error().into()),
        Tag::ObjectIdentifier => any.decode_as::<ObjectIdentifier>().map(drop),
        Tag::BitString => bit_string(any),
        Tag::Utf8String => any.decode_as::<Utf8StringRef<'_>>().map(drop),
        Tag::Ia5String => any.decode_as::<Ia5StringRef<'_>>().map(drop),
        Tag::UtcTime => any.decode_as::<UtcTime>().map(drop),
        Tag::GeneralizedTime => any.decode_as::<GeneralizedTime>().map(drop),
        // Octets and implicitly tagged values mean what their place says; whoever reads them
        // there checks them. The character sets of other strings belong to the rules on names.
        _ => Ok(()),
    }
}

fn children(any: AnyRef<'_>, depth: u8) -> der::Result<()> {
    let depth = depth.checked_sub(1).ok_or_else(|| any.tag().length_error())?;
    let mut reader = SliceReader::new(any.value())?;
    let mut before: &[u8] = &[];
    while !reader.is_finished() {
        let child = reader.tlv_bytes()?;
        // X.690, section 11.6: the elements of a SET OF ascend.
        if any.tag() == Tag::Set && child < before {
            return Err(ErrorKind::SetOrdering.into());
        }
        value(AnyRef::from_der(child)?, depth)?;
        before = child;
    }
    Ok(())
}

/// X.690, section 11.2.1: unused bits are zero.
fn bit_string(any: AnyRef<'_>) -> der::Result<()> {
    let bits = any.decode_as::<BitStringRef<'_>>()?;
    let last = bits.raw_bytes().last().copied().unwrap_or(0);
    let unused = (1_u8 << bits.unused_bits()).wrapping_sub(1);
    if last & unused == 0 { Ok(()) } else { Err(Tag::BitString.value_error().into()) }
}
