//! PKCS#12 (RFC 7292): certificate, chain and private key in one file under a password.
//!
//! Certificates and key are encrypted apart, and an HMAC lies over both. Leaf and key carry the same
//! localKeyID, by which readers join them, and the same friendlyName, which they show.

mod read_back;

use std::num::NonZeroU32;

use aws_lc_rs::hmac;
use const_oid::db::rfc5911::{ID_DATA, ID_ENCRYPTED_DATA};
use der::Tag;
use der::asn1::ObjectIdentifier;
use pkcs12::kdf::{Pkcs12KeyType, derive_key};
use sha1::{Digest as _, Sha1};
use sha2::Sha256;
use zeroize::Zeroizing;

use super::cipher::{Cipher, encrypted_key, iteration_count, oid, rounds};
use super::{Contents, P12Password, P12Profile, PackagingError};
use crate::asn1::{context, encode, sequence};
use crate::random::Random;

const CERT_BAG: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.3");
const KEY_BAG: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.10.1.2");
const X509_CERTIFICATE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.22.1");
const FRIENDLY_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.20");
const LOCAL_KEY_ID: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.21");

/// Everything that the password gives, derived once.
pub(super) struct Keys {
    certificates: Cipher,
    key: Cipher,
    mac: Mac,
}

struct Mac {
    key: hmac::Key,
    digest: ObjectIdentifier,
    salt: [u8; 8],
    iterations: NonZeroU32,
}

impl Keys {
    /// Derives them, which is what takes the time.
    pub(super) fn derive(
        password: &P12Password,
        profile: P12Profile,
        iterations: NonZeroU32,
        random: &dyn Random,
    ) -> Result<Self, PackagingError> {
        let [certificates, key] = match profile {
            P12Profile::Modern => Cipher::modern_pair(password, iterations, random),
            P12Profile::Compatible => {
                let one = || Cipher::compatible(password, iterations, random);
                [one()?, one()?]
            }
        };
        let mac = Mac::derive(password, profile, iterations, random)?;
        Ok(Self { certificates, key, mac })
    }
}

impl Mac {
    fn derive(
        password: &P12Password,
        profile: P12Profile,
        iterations: NonZeroU32,
        random: &dyn Random,
    ) -> Result<Self, PackagingError> {
        const SHA1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.14.3.2.26");
        const SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.2.1");
        let mut salt = [0; 8];
        random.fill(&mut salt);
        let (text, rounds, id) = (password.to_bmp(), rounds(iterations)?, Pkcs12KeyType::Mac);
        let (key, digest) = match profile {
            P12Profile::Modern => {
                let key = derive_key::<Sha256>(&text, &salt, id, rounds, 32);
                (hmac::Key::new(hmac::HMAC_SHA256, &Zeroizing::new(key)), SHA256)
            }
            P12Profile::Compatible => {
                let key = derive_key::<Sha1>(&text, &salt, id, rounds, 20);
                let algorithm = hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY;
                (hmac::Key::new(algorithm, &Zeroizing::new(key)), SHA1)
            }
        };
        Ok(Self { key, digest, salt, iterations })
    }

    /// MacData over the content of the AuthenticatedSafe.
    fn over(&self, content: &[u8]) -> Result<Vec<u8>, PackagingError> {
        const NULL: &[u8] = &[0x05, 0x00];
        let tag = hmac::sign(&self.key, content);
        let algorithm = sequence(&[&oid(self.digest)?, NULL])?;
        let info = sequence(&[&algorithm, &encode(Tag::OctetString, tag.as_ref())?])?;
        let salt = encode(Tag::OctetString, &self.salt)?;
        Ok(sequence(&[&info, &salt, &iteration_count(self.iterations)?])?)
    }
}

/// Writes the file, and reads it back before it leaves.
pub(super) fn write(contents: &Contents<'_>, keys: &Keys) -> Result<Vec<u8>, PackagingError> {
    const VERSION_3: &[u8] = &[0x02, 0x01, 0x03];
    let identity = attributes(contents)?;
    let certificates = contents.certificates().enumerate().map(|(place, der)| {
        let der = encode(Tag::OctetString, der)?;
        let bag = sequence(&[&oid(X509_CERTIFICATE)?, &explicit(&der)?])?;
        safe_bag(CERT_BAG, &bag, if place == 0 { &identity } else { &[] })
    });
    let certificates = sequence_of(certificates.collect::<der::Result<Vec<_>>>()?)?;
    let encrypted = keys.certificates.encrypt(&certificates)?;
    let content = encode(context(0, false), &encrypted.bytes)?;
    let content = sequence(&[&oid(ID_DATA)?, &encrypted.algorithm, &content])?;
    let encrypted_data = sequence(&[&[0x02, 0x01, 0x00], &content])?;
    let certificates = content_info(ID_ENCRYPTED_DATA, &encrypted_data)?;

    let key = encrypted_key(&keys.key.encrypt(contents.pkcs8)?)?;
    let key = sequence_of(vec![safe_bag(KEY_BAG, &key, &identity)?])?;
    let key = content_info(ID_DATA, &encode(Tag::OctetString, &key)?)?;

    let safe = sequence(&[&certificates, &key])?;
    let mac = keys.mac.over(&safe)?;
    let safe = content_info(ID_DATA, &encode(Tag::OctetString, &safe)?)?;
    let file = sequence(&[VERSION_3, &safe, &mac])?;
    read_back::compare(&file, contents, keys)?;
    Ok(file)
}

/// friendlyName and localKeyID, in DER's order of a SET.
fn attributes(contents: &Contents<'_>) -> der::Result<Vec<u8>> {
    let attribute = |id, value: &[u8]| sequence(&[&oid(id)?, &encode(Tag::Set, value)?]);
    let name: String = shown_name(contents.name).collect();
    let name: Vec<u8> = name.encode_utf16().flat_map(u16::to_be_bytes).collect();
    let mut pair = [
        attribute(FRIENDLY_NAME, &encode(Tag::BmpString, &name)?)?,
        attribute(LOCAL_KEY_ID, &encode(Tag::OctetString, &Sha1::digest(contents.leaf))?)?,
    ];
    pair.sort_unstable();
    encode(Tag::Set, &pair.concat())
}

/// A BMPString has no letters beyond the first plane, and some readers take none of the name then.
fn shown_name(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|c| if c > '\u{ffff}' { '\u{fffd}' } else { c })
}

fn safe_bag(id: ObjectIdentifier, value: &[u8], attributes: &[u8]) -> der::Result<Vec<u8>> {
    sequence(&[&oid(id)?, &explicit(value)?, attributes])
}

fn content_info(id: ObjectIdentifier, content: &[u8]) -> der::Result<Vec<u8>> {
    sequence(&[&oid(id)?, &explicit(content)?])
}

fn explicit(value: &[u8]) -> der::Result<Vec<u8>> {
    encode(context(0, true), value)
}

#[expect(clippy::needless_pass_by_value, reason = "the parts are of no use afterwards")]
fn sequence_of(parts: Vec<Vec<u8>>) -> der::Result<Vec<u8>> {
    encode(Tag::Sequence, &parts.concat())
}
