//! The subject's public key: a kind that policy allows, well-formed, and not known to be weak.

use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ECDSA_P521_SHA512_ASN1, ParsedPublicKey,
    VerificationAlgorithm,
};
use chancery_shared::weak_key::{self, WeakModulus};
use chancery_shared::wire::policy::{Policy, SubjectKey};
use const_oid::db::rfc5912::{
    ID_EC_PUBLIC_KEY, RSA_ENCRYPTION, SECP_256_R_1, SECP_384_R_1, SECP_521_R_1,
};
use const_oid::db::rfc8410::ID_ED_25519;
use der::asn1::{AnyRef, ObjectIdentifier, UintRef};
use der::{Decode as _, Reader as _, Tag, Tagged as _};
use spki::SubjectPublicKeyInfoRef;

use super::violation::PolicyViolation;

/// A sound subject key, as far as the other rules want to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PublicKey<'a> {
    pub(super) kind: SubjectKey,
    /// Content of the BIT STRING.
    pub(super) bits: &'a [u8],
}

impl<'a> PublicKey<'a> {
    /// Reads the DER of a SubjectPublicKeyInfo and checks the key for itself.
    pub(super) fn read(spki: &'a [u8]) -> Result<Self, PolicyViolation> {
        let spki = SubjectPublicKeyInfoRef::from_der(spki)
            .map_err(|_| PolicyViolation::PublicKeyMalformed)?;
        let bits = spki.subject_public_key.as_bytes().ok_or(PolicyViolation::PublicKeyMalformed)?;
        let parameters = spki.algorithm.parameters;
        let kind = match spki.algorithm.oid {
            RSA_ENCRYPTION => rsa(bits, parameters)?,
            ID_EC_PUBLIC_KEY => elliptic_curve(bits, parameters)?,
            ID_ED_25519 => ed25519(bits, parameters)?,
            other => return Err(PolicyViolation::PublicKeyAlgorithm(other)),
        };
        Ok(Self { kind, bits })
    }

    /// Checks that policy allows keys of this kind.
    pub(super) fn check(&self, policy: &Policy) -> Result<(), PolicyViolation> {
        if policy.allows_key(self.kind) {
            Ok(())
        } else {
            Err(PolicyViolation::PublicKeyNotAllowed(name(self.kind)))
        }
    }
}

/// RFC 3279, section 2.3.1, with the bounds of FIPS 186-5 on the exponent from below.
fn rsa(bits: &[u8], parameters: Option<AnyRef<'_>>) -> Result<SubjectKey, PolicyViolation> {
    if parameters != Some(AnyRef::NULL) {
        return Err(PolicyViolation::PublicKeyParameters);
    }
    let (modulus, exponent) = rsa_numbers(bits).map_err(|_| PolicyViolation::PublicKeyMalformed)?;
    let size = bit_length(modulus);
    if !(2048..=8192).contains(&size) {
        return Err(PolicyViolation::RsaSize(size));
    }
    if modulus.last().is_none_or(|last| last & 1 == 0) {
        return Err(PolicyViolation::RsaModulus);
    }
    let value = exponent.iter().try_fold(0_u32, |value, byte| {
        value.checked_mul(256).map(|value| value | u32::from(*byte))
    });
    // The upper bound is what verifiers can be expected to take.
    if !value.is_some_and(|value| value >= 65_537 && value & 1 == 1) {
        return Err(PolicyViolation::RsaExponent);
    }
    weak_key::check_modulus(modulus).map_err(|weak| match weak {
        WeakModulus::SmallFactor(divisor) => PolicyViolation::SmallFactor(divisor),
        WeakModulus::Roca => PolicyViolation::Roca,
        WeakModulus::ClosePrimes => PolicyViolation::ClosePrimes,
    })?;
    Ok(match size {
        4096.. => SubjectKey::Rsa4096,
        3072.. => SubjectKey::Rsa3072,
        _ => SubjectKey::Rsa2048,
    })
}

fn rsa_numbers(bits: &[u8]) -> der::Result<(&[u8], &[u8])> {
    let key = AnyRef::from_der(bits)?;
    key.sequence(|reader| {
        let modulus: UintRef<'_> = reader.decode()?;
        let exponent: UintRef<'_> = reader.decode()?;
        Ok((modulus.as_bytes(), exponent.as_bytes()))
    })
}

/// Of a number without leading zero bytes, big-endian.
fn bit_length(number: &[u8]) -> u32 {
    let Some((first, rest)) = number.split_first() else { return 0 };
    u32::try_from(rest.len()).unwrap_or(u32::MAX / 8) * 8 + (8 - first.leading_zeros())
}

/// RFC 5480, section 2: a named curve and an uncompressed point on it.
fn elliptic_curve(
    bits: &[u8],
    parameters: Option<AnyRef<'_>>,
) -> Result<SubjectKey, PolicyViolation> {
    let curve = parameters
        .filter(|parameters| parameters.tag() == Tag::ObjectIdentifier)
        .and_then(|parameters| parameters.decode_as::<ObjectIdentifier>().ok())
        .ok_or(PolicyViolation::PublicKeyParameters)?;
    let (kind, size, algorithm): (_, _, &'static dyn VerificationAlgorithm) = match curve {
        SECP_256_R_1 => (SubjectKey::EcP256, 65, &ECDSA_P256_SHA256_ASN1),
        SECP_384_R_1 => (SubjectKey::EcP384, 97, &ECDSA_P384_SHA384_ASN1),
        SECP_521_R_1 => (SubjectKey::EcP521, 133, &ECDSA_P521_SHA512_ASN1),
        other => return Err(PolicyViolation::PublicKeyAlgorithm(other)),
    };
    let is_uncompressed = bits.len() == size && bits.first() == Some(&0x04);
    if is_uncompressed && ParsedPublicKey::new(algorithm, bits).is_ok() {
        Ok(kind)
    } else {
        Err(PolicyViolation::PublicKeyPoint)
    }
}

/// RFC 8410, section 4: no parameters, 32 octets.
fn ed25519(bits: &[u8], parameters: Option<AnyRef<'_>>) -> Result<SubjectKey, PolicyViolation> {
    if parameters.is_some() {
        return Err(PolicyViolation::PublicKeyParameters);
    }
    let point = bits.try_into().map_err(|_| PolicyViolation::PublicKeyMalformed)?;
    if weak_key::has_small_order(point) {
        return Err(PolicyViolation::PublicKeyPoint);
    }
    Ok(SubjectKey::Ed25519)
}

/// The kind as the policy writes it.
fn name(kind: SubjectKey) -> &'static str {
    match kind {
        SubjectKey::Rsa2048 => "rsa-2048",
        SubjectKey::Rsa3072 => "rsa-3072",
        SubjectKey::Rsa4096 => "rsa-4096",
        SubjectKey::EcP256 => "ec-p256",
        SubjectKey::EcP384 => "ec-p384",
        SubjectKey::EcP521 => "ec-p521",
        SubjectKey::Ed25519 => "ed25519",
    }
}
