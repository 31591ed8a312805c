//! JKS, the old key store of Java: one private key with its chain. The password of the store is that
//! of the key too, as every Java program expects.
//!
//! Its protection is a SHA-1 keystream and no match for a weak password; it is for programs that read
//! nothing else.

mod read_back;

use sha1::{Digest as _, Sha1};
use time::OffsetDateTime;
use zeroize::Zeroizing;

use super::{Contents, P12Password, PackagingError};
use crate::asn1::{Tlv, encode, sequence};
use crate::random::Random;
use crate::timestamp::to_millis;

const MAGIC: u32 = 0xfeed_feed;
const VERSION: u32 = 2;
/// Of an entry with a private key.
const PRIVATE_KEY: u32 = 1;
/// What Sun's engineers put in front of what the store's hash covers.
const PEPPER: &[u8] = b"Mighty Aphrodite";
/// AlgorithmIdentifier of Sun's key protector: 1.3.6.1.4.1.42.2.17.1.1, NULL.
const PROTECTOR: &[u8] = &[
    0x30, 0x0e, 0x06, 0x0a, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x2a, 0x02, 0x11, 0x01, 0x01, 0x05, 0x00,
];
const HASH: usize = 20;

/// Writes the file, and reads it back before it leaves.
pub(super) fn write(
    contents: &Contents<'_>,
    password: &P12Password,
    now: OffsetDateTime,
    random: &dyn Random,
) -> Result<Vec<u8>, PackagingError> {
    let password = password.to_utf16();
    let mut salt = [0; HASH];
    random.fill(&mut salt);
    let key = protect(contents.pkcs8, &password, &salt)?;

    let mut file = Vec::new();
    file.extend(MAGIC.to_be_bytes());
    file.extend(VERSION.to_be_bytes());
    file.extend(1_u32.to_be_bytes());
    file.extend(PRIVATE_KEY.to_be_bytes());
    // Java looks entries up in lower case.
    file.extend(modified_utf8(&contents.name.to_lowercase())?);
    file.extend(to_millis(now).to_be_bytes());
    file.extend(length(key.len())?);
    file.extend(&key);
    file.extend(length(contents.certificates().count())?);
    for certificate in contents.certificates() {
        file.extend(modified_utf8("X.509")?);
        file.extend(length(certificate.len())?);
        file.extend(certificate);
    }
    let hash = Sha1::new().chain_update(&*password).chain_update(PEPPER).chain_update(&file);
    file.extend(hash.finalize());

    read_back::compare(&file, contents, &password)?;
    Ok(file)
}

/// EncryptedPrivateKeyInfo under Sun's protector: salt, key under the keystream, hash of the key.
fn protect(pkcs8: &[u8], password: &[u8], salt: &[u8; HASH]) -> der::Result<Vec<u8>> {
    let check = Sha1::new().chain_update(password).chain_update(pkcs8).finalize();
    let hidden = under_keystream(pkcs8, password, salt);
    let body = [salt.as_slice(), &hidden, &check].concat();
    sequence(&[PROTECTOR, &encode(der::Tag::OctetString, &body)?])
}

/// The key that [`protect`] hid.
fn recover(protected: &[u8], password: &[u8]) -> Result<Zeroizing<Vec<u8>>, PackagingError> {
    const BROKEN: PackagingError = PackagingError::ReadBack("key");
    let parts = Tlv::read(protected)?.children()?;
    let body = parts.last().ok_or(BROKEN)?.content;
    let (salt, rest) = body.split_first_chunk::<HASH>().ok_or(BROKEN)?;
    let (hidden, check) = rest.split_last_chunk::<HASH>().ok_or(BROKEN)?;
    let key = Zeroizing::new(under_keystream(hidden, password, salt));
    let expected = Sha1::new().chain_update(password).chain_update(&*key).finalize();
    if expected.as_slice() == check { Ok(key) } else { Err(BROKEN) }
}

fn under_keystream(bytes: &[u8], password: &[u8], salt: &[u8; HASH]) -> Vec<u8> {
    let mut block = *salt;
    let mut result = Vec::with_capacity(bytes.len());
    for chunk in bytes.chunks(HASH) {
        block = Sha1::new().chain_update(password).chain_update(block).finalize().into();
        result.extend(chunk.iter().zip(block).map(|(byte, key)| byte ^ key));
    }
    result
}

fn length(length: usize) -> Result<[u8; 4], PackagingError> {
    let length = u32::try_from(length).map_err(|_| PackagingError::ReadBack("length"))?;
    Ok(length.to_be_bytes())
}

/// A text as Java's `DataInput` reads it: each unit of UTF-16 by itself in one to three bytes.
fn modified_utf8(text: &str) -> Result<Vec<u8>, PackagingError> {
    let mut bytes = Vec::new();
    for unit in text.encode_utf16() {
        let [high, low] = unit.to_be_bytes();
        match unit {
            0x01..=0x7f => bytes.push(low),
            0 | 0x80..=0x7ff => {
                bytes.extend([0xc0 | high << 2 | low >> 6, 0x80 | low & 0x3f]);
            }
            _ => bytes.extend([
                0xe0 | high >> 4,
                0x80 | (high << 2 | low >> 6) & 0x3f,
                0x80 | low & 0x3f,
            ]),
        }
    }
    let length = u16::try_from(bytes.len()).map_err(|_| PackagingError::ReadBack("alias"))?;
    Ok([&length.to_be_bytes(), bytes.as_slice()].concat())
}
