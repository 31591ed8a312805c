//! Reads a file as Java will, field by field, and compares what is in it.

use sha1::{Digest as _, Sha1};

use super::{HASH, MAGIC, PEPPER, PRIVATE_KEY, VERSION, recover};
use crate::packaging::{Contents, PackagingError};

/// Whether `file` holds exactly `contents`. `password`: in UTF-16.
pub(super) fn compare(
    file: &[u8],
    contents: &Contents<'_>,
    password: &[u8],
) -> Result<(), PackagingError> {
    let broken = PackagingError::ReadBack;
    let (body, hash) = file.split_last_chunk::<HASH>().ok_or(broken("hash"))?;
    let expected = Sha1::new().chain_update(password).chain_update(PEPPER).chain_update(body);
    if expected.finalize().as_slice() != hash {
        return Err(broken("hash"));
    }
    let mut rest = Rest(body);
    for number in [MAGIC, VERSION, 1, PRIVATE_KEY] {
        if rest.number()? != number {
            return Err(broken("entry"));
        }
    }
    if utf16(rest.text()?) != contents.name.to_lowercase().encode_utf16().collect::<Vec<_>>() {
        return Err(broken("alias"));
    }
    rest.take(size_of::<i64>())?;
    let key = rest.block()?;
    if recover(key, password)?.as_slice() != contents.pkcs8 {
        return Err(broken("key"));
    }
    let count = rest.number()?;
    if usize::try_from(count) != Ok(contents.certificates().count()) {
        return Err(broken("chain"));
    }
    for certificate in contents.certificates() {
        if rest.text()? != b"X.509" || rest.block()? != certificate {
            return Err(broken("certificate"));
        }
    }
    if rest.0.is_empty() { Ok(()) } else { Err(broken("end")) }
}

/// What of the file has not been read yet.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], PackagingError> {
        let halves = self.0.split_at_checked(length);
        let (taken, rest) = halves.ok_or(PackagingError::ReadBack("length"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, PackagingError> {
        let bytes = self.take(size_of::<u32>())?;
        bytes.try_into().map(u32::from_be_bytes).map_err(|_| PackagingError::ReadBack("length"))
    }

    /// Bytes behind their length in four.
    fn block(&mut self) -> Result<&'a [u8], PackagingError> {
        let length = usize::try_from(self.number()?);
        self.take(length.map_err(|_| PackagingError::ReadBack("length"))?)
    }

    /// Bytes behind their length in two.
    fn text(&mut self) -> Result<&'a [u8], PackagingError> {
        let length = self.take(size_of::<u16>())?.try_into().map(u16::from_be_bytes);
        self.take(length.map_err(|_| PackagingError::ReadBack("length"))?.into())
    }
}

/// The units of a text in Java's own kind of UTF-8.
fn utf16(mut bytes: &[u8]) -> Vec<u16> {
    let mut units = Vec::new();
    loop {
        let bits = |byte: &u8| u16::from(byte & 0x3f);
        let (unit, rest) = match bytes {
            [first @ 0x01..=0x7f, rest @ ..] => (u16::from(*first), rest),
            [first @ 0xc0..=0xdf, second, rest @ ..] => {
                (u16::from(first & 0x1f) << 6 | bits(second), rest)
            }
            [first @ 0xe0..=0xef, second, third, rest @ ..] => {
                (u16::from(first & 0x0f) << 12 | bits(second) << 6 | bits(third), rest)
            }
            _ => return units,
        };
        units.push(unit);
        bytes = rest;
    }
}
