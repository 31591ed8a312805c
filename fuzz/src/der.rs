//! DER with lengths that are always right, so that an input reaches what lies inside.

use der::{Encode as _, Tag, asn1::AnyRef};

/// One value; nothing where it would be longer than DER can say.
#[must_use]
pub fn value(tag: Tag, content: &[u8]) -> Vec<u8> {
    AnyRef::new(tag, content).and_then(|any| any.to_der()).unwrap_or_default()
}

/// A SEQUENCE of these values.
#[must_use]
pub fn sequence(values: &[&[u8]]) -> Vec<u8> {
    value(Tag::Sequence, &values.concat())
}

/// The values inside the one value that `der` is.
#[must_use]
pub fn children(der: &[u8]) -> Vec<Vec<u8>> {
    use der::{Decode as _, Reader as _, SliceReader};
    let Ok(any) = AnyRef::from_der(der) else { return Vec::new() };
    let Ok(mut reader) = SliceReader::new(any.value()) else { return Vec::new() };
    let mut children = Vec::new();
    while let Ok(child) = reader.tlv_bytes() {
        children.push(child.to_vec());
    }
    children
}
