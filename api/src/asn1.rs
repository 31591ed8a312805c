//! DER in pieces: taken apart without changing a byte, and put together again.

use der::asn1::AnyRef;
use der::{Decode as _, Encode as _, Header, Reader as _, SliceReader, Tag, TagNumber};

/// One value with its tag, and its bytes as they were found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tlv<'a> {
    /// The tag.
    pub(crate) tag: Tag,
    /// What the tag and the length stand in front of.
    pub(crate) content: &'a [u8],
    /// Tag, length and content.
    pub(crate) der: &'a [u8],
}

impl<'a> Tlv<'a> {
    /// Reads exactly one value.
    pub(crate) fn read(der: &'a [u8]) -> der::Result<Self> {
        let mut reader = SliceReader::new(der)?;
        let tlv = Self::next(&mut reader)?;
        reader.finish()?;
        Ok(tlv)
    }

    /// Reads the next value.
    pub(crate) fn next(reader: &mut SliceReader<'a>) -> der::Result<Self> {
        // The header is read once; `tlv_bytes` would read it, and whoever wants the content again.
        let mut whole = reader.clone();
        let header = Header::decode(reader)?;
        let content = reader.read_slice(header.length())?;
        let der = whole.read_slice((reader.position() - whole.position())?)?;
        Ok(Self { tag: header.tag(), content, der })
    }

    /// This value, if it has that tag.
    pub(crate) fn expect(self, tag: Tag) -> der::Result<Self> {
        self.tag.assert_eq(tag)?;
        Ok(self)
    }

    /// The values inside, each whole.
    pub(crate) fn children(&self) -> der::Result<Vec<Tlv<'a>>> {
        read_all(self.content)
    }
}

/// Every value of `content`, which may be empty.
pub(crate) fn read_all(content: &[u8]) -> der::Result<Vec<Tlv<'_>>> {
    let mut reader = SliceReader::new(content)?;
    let mut all = Vec::new();
    while !reader.is_finished() {
        all.push(Tlv::next(&mut reader)?);
    }
    Ok(all)
}

/// The context-specific tag `[number]`.
pub(crate) const fn context(number: u32, constructed: bool) -> Tag {
    Tag::ContextSpecific { constructed, number: TagNumber(number) }
}

/// Tag, length and `content`.
pub(crate) fn encode(tag: Tag, content: &[u8]) -> der::Result<Vec<u8>> {
    AnyRef::new(tag, content)?.to_der()
}

/// A SEQUENCE of values that are DER already.
pub(crate) fn sequence(parts: &[&[u8]]) -> der::Result<Vec<u8>> {
    encode(Tag::Sequence, &parts.concat())
}
