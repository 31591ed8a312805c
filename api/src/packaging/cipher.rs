//! Encryption under a key that a password gives, as PKCS#5 and PKCS#12 have it.

use std::num::NonZeroU32;

use aws_lc_rs::cipher::{
    AES_256, DecryptionContext, EncryptionContext, PaddedBlockDecryptingKey,
    PaddedBlockEncryptingKey, UnboundCipherKey,
};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::iv::FixedLength;
use aws_lc_rs::pbkdf2::{PBKDF2_HMAC_SHA256, derive};
use cbc::cipher::block_padding::Pkcs7;
use cbc::cipher::{BlockModeDecrypt as _, BlockModeEncrypt as _, KeyIvInit as _};
use der::Tag;
use der::asn1::ObjectIdentifier;
use des::TdesEde3;
use pkcs12::kdf::{Pkcs12KeyType, derive_key};
use sha1::Sha1;
use zeroize::Zeroizing;

use super::PackagingError;
use super::password::P12Password;
use crate::asn1::{encode, sequence};
use crate::random::Random;

/// PBES2, PBKDF2, HMAC with SHA-256 and AES-256 in CBC mode (RFC 8018, appendices A and B).
const PBES2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.13");
const PBKDF2: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.5.12");
const HMAC_SHA256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.2.9");
const AES256_CBC: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.16.840.1.101.3.4.1.42");
/// pbeWithSHAAnd3-KeyTripleDES-CBC (RFC 7292, appendix C).
const PBE_SHA_3DES: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.12.1.3");

/// A key with its initialisation vector, ready to encrypt one text and to read it back.
pub(super) struct Cipher {
    scheme: Scheme,
    salt: Vec<u8>,
    iterations: NonZeroU32,
}

enum Scheme {
    Aes256 { key: Zeroizing<[u8; 32]>, iv: [u8; 16] },
    TripleDes { key: Zeroizing<Vec<u8>>, iv: Zeroizing<Vec<u8>> },
}

/// What was encrypted, and how.
pub(super) struct Encrypted {
    /// DER of the AlgorithmIdentifier.
    pub(super) algorithm: Vec<u8>,
    pub(super) bytes: Vec<u8>,
}

impl Cipher {
    /// AES-256 under PBKDF2: one key for two texts, each with a vector of its own, so that the
    /// expensive derivation is done once.
    pub(super) fn modern_pair(
        password: &P12Password,
        iterations: NonZeroU32,
        random: &dyn Random,
    ) -> [Self; 2] {
        let mut salt = [0; 16];
        random.fill(&mut salt);
        let mut key = Zeroizing::new([0; 32]);
        derive(PBKDF2_HMAC_SHA256, iterations, &salt, password.text().as_bytes(), &mut *key);
        [(), ()].map(|()| {
            let mut iv = [0; 16];
            random.fill(&mut iv);
            let scheme = Scheme::Aes256 { key: key.clone(), iv };
            Self { scheme, salt: salt.to_vec(), iterations }
        })
    }

    /// Triple DES under PKCS#12's own derivation, for readers that know nothing newer.
    pub(super) fn compatible(
        password: &P12Password,
        iterations: NonZeroU32,
        random: &dyn Random,
    ) -> Result<Self, PackagingError> {
        let mut salt = vec![0; 8];
        random.fill(&mut salt);
        let (text, rounds) = (password.to_bmp(), rounds(iterations)?);
        let derived =
            |id, length| Zeroizing::new(derive_key::<Sha1>(&text, &salt, id, rounds, length));
        let key = derived(Pkcs12KeyType::EncryptionKey, 24);
        let iv = derived(Pkcs12KeyType::Iv, 8);
        Ok(Self { scheme: Scheme::TripleDes { key, iv }, salt, iterations })
    }

    /// Encrypts `text`; the plain bytes are wiped.
    pub(super) fn encrypt(&self, text: &[u8]) -> Result<Encrypted, PackagingError> {
        // With room for the padding: growing would leave a copy of a private key behind.
        let mut buffer = Zeroizing::new(Vec::with_capacity(text.len() + 32));
        buffer.extend_from_slice(text);
        let bytes = match &self.scheme {
            Scheme::Aes256 { key, iv } => {
                let key = UnboundCipherKey::new(&AES_256, &**key)?;
                let key = PaddedBlockEncryptingKey::cbc_pkcs7(key)?;
                let context = EncryptionContext::Iv128(FixedLength::from(iv));
                key.less_safe_encrypt(&mut *buffer, context)?;
                buffer.to_vec()
            }
            Scheme::TripleDes { key, iv } => {
                let cipher = cbc::Encryptor::<TdesEde3>::new_from_slices(key, iv);
                let cipher = cipher.map_err(|_| Unspecified)?;
                cipher.encrypt_padded_vec::<Pkcs7>(&buffer)
            }
        };
        Ok(Encrypted { algorithm: self.algorithm()?, bytes })
    }

    /// Decrypts what [`Self::encrypt`] made, with the key as it stands: nothing is derived again.
    pub(super) fn decrypt(&self, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, PackagingError> {
        match &self.scheme {
            Scheme::Aes256 { key, iv } => {
                let mut buffer = Zeroizing::new(bytes.to_vec());
                let key = UnboundCipherKey::new(&AES_256, &**key)?;
                let key = PaddedBlockDecryptingKey::cbc_pkcs7(key)?;
                let context = DecryptionContext::Iv128(FixedLength::from(iv));
                let length = key.decrypt(&mut buffer, context)?.len();
                buffer.truncate(length);
                Ok(buffer)
            }
            Scheme::TripleDes { key, iv } => {
                let cipher = cbc::Decryptor::<TdesEde3>::new_from_slices(key, iv);
                let cipher = cipher.map_err(|_| Unspecified)?;
                let text = cipher.decrypt_padded_vec::<Pkcs7>(bytes).map_err(|_| Unspecified)?;
                Ok(Zeroizing::new(text))
            }
        }
    }

    fn algorithm(&self) -> Result<Vec<u8>, PackagingError> {
        const NULL: &[u8] = &[0x05, 0x00];
        let salt = encode(Tag::OctetString, &self.salt)?;
        let iterations = iteration_count(self.iterations)?;
        Ok(match &self.scheme {
            Scheme::Aes256 { iv, .. } => {
                let prf = sequence(&[&oid(HMAC_SHA256)?, NULL])?;
                let derivation = sequence(&[&salt, &iterations, &prf])?;
                let derivation = sequence(&[&oid(PBKDF2)?, &derivation])?;
                let cipher = sequence(&[&oid(AES256_CBC)?, &encode(Tag::OctetString, iv)?])?;
                sequence(&[&oid(PBES2)?, &sequence(&[&derivation, &cipher])?])?
            }
            Scheme::TripleDes { .. } => {
                sequence(&[&oid(PBE_SHA_3DES)?, &sequence(&[&salt, &iterations])?])?
            }
        })
    }
}

/// EncryptedPrivateKeyInfo (RFC 5958, section 3).
pub(super) fn encrypted_key(encrypted: &Encrypted) -> der::Result<Vec<u8>> {
    let bytes = encode(Tag::OctetString, &encrypted.bytes)?;
    sequence(&[&encrypted.algorithm, &bytes])
}

pub(super) fn oid(oid: ObjectIdentifier) -> der::Result<Vec<u8>> {
    encode(Tag::ObjectIdentifier, oid.as_bytes())
}

/// DER of the INTEGER.
pub(super) fn iteration_count(iterations: NonZeroU32) -> der::Result<Vec<u8>> {
    der::Encode::to_der(&iterations.get())
}

pub(super) fn rounds(iterations: NonZeroU32) -> Result<i32, PackagingError> {
    i32::try_from(iterations.get()).map_err(|_| PackagingError::Crypto(Unspecified))
}
