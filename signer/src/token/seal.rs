//! Sealed data keys: 32 bytes under the token's AES key, which never leaves the token.
//!
//! Stored: a change is a new version byte, and the old one stays readable.
//!
//! `version ‖ IV ‖ ciphertext ‖ tag`, AES-256-GCM. IVs are random, 96 bits: the rate limit on
//! sealing keeps one key far below the 2^32 calls that NIST SP 800-38D, section 8.3 allows.

use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::aead::GcmParams;
use cryptoki::types::Ulong;

use super::error::TokenError;

/// Length of a data key.
pub(super) const DATA_KEY: usize = 32;
/// Length of the initialisation vector.
pub(super) const IV: usize = 12;

const VERSION: u8 = 1;
const TAG: usize = 16;
const TAG_BITS: Ulong = Ulong::new(128);
/// Binds the ciphertext to its use.
const AAD: &[u8] = b"chancery sealed data key, version 1";

/// The mechanism for sealing and opening with this IV.
pub(super) fn mechanism(iv: &mut [u8]) -> Option<Mechanism<'_>> {
    // SoftHSM2 accepts an empty IV.
    if iv.len() != IV {
        return None;
    }
    GcmParams::new(iv, AAD, TAG_BITS).ok().map(Mechanism::AesGcm)
}

/// The blob from what the token encrypted.
pub(super) fn join(iv: &[u8], sealed: &[u8]) -> Result<Vec<u8>, TokenError> {
    if iv.len() != IV || sealed.len() != DATA_KEY + TAG {
        return Err(TokenError::SealBroken);
    }
    let mut blob = vec![VERSION];
    blob.extend(iv);
    blob.extend(sealed);
    Ok(blob)
}

/// IV and ciphertext with tag.
pub(super) fn split(blob: &[u8]) -> Result<(&[u8], &[u8]), TokenError> {
    match blob.split_first() {
        Some((&VERSION, rest)) if rest.len() == IV + DATA_KEY + TAG => Ok(rest.split_at(IV)),
        _ => Err(TokenError::SealBroken),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_comes_apart_as_it_was_joined_and_no_other_is_taken() {
        let blob = join(&[1; IV], &[2; DATA_KEY + TAG]).unwrap();

        assert_eq!(split(&blob), Ok(([1; IV].as_slice(), [2; DATA_KEY + TAG].as_slice())));
        for broken in [&[][..], &[1], &blob[1..], &blob[..blob.len() - 1]] {
            assert_eq!(split(broken), Err(TokenError::SealBroken));
        }
        let mut newer = blob;
        newer[0] = 2;
        assert_eq!(split(&newer), Err(TokenError::SealBroken));
    }
}
