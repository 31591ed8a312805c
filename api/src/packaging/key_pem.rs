//! PEM with everything: certificate, chain, and the private key as encrypted PKCS#8.

use std::num::NonZeroU32;

use super::cipher::{Cipher, encrypted_key};
use super::{Contents, P12Password, PackagingError, counted, pem};
use crate::asn1::Tlv;
use crate::random::Random;

/// Writes the text, and reads the key back before it leaves.
pub(super) fn write(
    contents: &Contents<'_>,
    password: &P12Password,
    iterations: NonZeroU32,
    random: &dyn Random,
) -> Result<Vec<u8>, PackagingError> {
    let [cipher, _] = counted(|| Cipher::modern_pair(password, iterations, random));
    let key = encrypted_key(&cipher.encrypt(contents.pkcs8)?)?;
    let mut text: String = contents.certificates().map(pem::certificate).collect();
    text.push_str(&pem::encrypted_key(&key));
    compare(&text, contents, &cipher)?;
    Ok(text.into_bytes())
}

fn compare(text: &str, contents: &Contents<'_>, cipher: &Cipher) -> Result<(), PackagingError> {
    const BROKEN: PackagingError = PackagingError::ReadBack("PEM");
    let parts = ::pem::parse_many(text).map_err(|_| BROKEN)?;
    let (key, certificates) = parts.split_last().ok_or(BROKEN)?;
    if !certificates.iter().map(::pem::Pem::contents).eq(contents.certificates()) {
        return Err(PackagingError::ReadBack("certificate"));
    }
    let encrypted = Tlv::read(key.contents())?.children()?;
    let encrypted = encrypted.last().ok_or(BROKEN)?.content;
    if cipher.decrypt(encrypted)?.as_slice() != contents.pkcs8 {
        return Err(PackagingError::ReadBack("key"));
    }
    Ok(())
}
