//! Signature verification by AlgorithmIdentifier: CSRs, and what a token has signed.

use aws_lc_rs::signature::{
    self as aws, ParsedPublicKey, UnparsedPublicKey, VerificationAlgorithm,
};
use der::Decode as _;
use der::asn1::ObjectIdentifier;
use spki::SubjectPublicKeyInfoRef;

use crate::wire::algorithm::SignatureAlgorithm;

/// Why a signature does not count.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The SubjectPublicKeyInfo is no DER.
    #[error("the public key is not well-formed; a SubjectPublicKeyInfo in DER is")]
    BadPublicKey,
    /// The algorithm is MD5, SHA-1, or one that is not known here.
    #[error(
        "the signature algorithm is not supported; RSA (PKCS #1 v1.5, or PSS with one hash \
         throughout), ECDSA with SHA-256, SHA-384 or SHA-512, and Ed25519 are"
    )]
    UnknownAlgorithm,
    /// The algorithm is not one that keys of this kind make.
    #[error(
        "the signature algorithm does not fit the key; sign with the algorithm of the key's kind"
    )]
    AlgorithmMismatch,
    /// The signature is not one over these bytes by this key.
    #[error(
        "the signature does not verify; sign it, as it is, with the private key of its public key"
    )]
    Wrong,
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// Verifies `signature` over `message`.
///
/// `spki` is the DER of a SubjectPublicKeyInfo, `algorithm` the DER of the AlgorithmIdentifier
/// that stands beside the signature. Only the forms of [`SignatureAlgorithm`] are taken.
///
/// # Errors
///
/// Says whether key, algorithm or signature is at fault.
pub fn verify(
    spki: &[u8],
    algorithm: &[u8],
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let algorithm = SignatureAlgorithm::from_algorithm_identifier(algorithm)
        .ok_or(SignatureError::UnknownAlgorithm)?;
    verify_as(spki, algorithm, message, signature)
}

/// As [`verify`], with the algorithm already known.
///
/// # Errors
///
/// As [`verify`].
pub fn verify_as(
    spki: &[u8],
    algorithm: SignatureAlgorithm,
    message: &[u8],
    signature: &[u8],
) -> Result<(), SignatureError> {
    let (verification, key) = read(spki, algorithm)?;
    UnparsedPublicKey::new(verification, key)
        .verify(message, signature)
        .map_err(|_| SignatureError::Wrong)
}

/// A public key that is read once, for many signatures of one algorithm.
#[derive(Clone, Debug)]
pub struct Verifier(ParsedPublicKey);

impl Verifier {
    /// With the key of this SubjectPublicKeyInfo, DER.
    ///
    /// # Errors
    ///
    /// As [`verify`], but for [`SignatureError::Wrong`].
    pub fn new(spki: &[u8], algorithm: SignatureAlgorithm) -> Result<Self, SignatureError> {
        let (verification, key) = read(spki, algorithm)?;
        let key = ParsedPublicKey::new(verification, key);
        key.map(Self).map_err(|_| SignatureError::BadPublicKey)
    }

    /// Verifies one signature.
    ///
    /// # Errors
    ///
    /// [`SignatureError::Wrong`].
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), SignatureError> {
        self.0.verify_sig(message, signature).map_err(|_| SignatureError::Wrong)
    }
}

/// How signatures of the key are verified, and the key itself.
fn read(
    spki: &[u8],
    algorithm: SignatureAlgorithm,
) -> Result<(&'static dyn VerificationAlgorithm, &[u8]), SignatureError> {
    let spki = SubjectPublicKeyInfoRef::from_der(spki).map_err(|_| SignatureError::BadPublicKey)?;
    let key = spki.subject_public_key.as_bytes().ok_or(SignatureError::BadPublicKey)?;
    let curve = spki.algorithm.parameters_oid().ok();
    let verification = verification(spki.algorithm.oid, curve, algorithm)
        .ok_or(SignatureError::AlgorithmMismatch)?;
    Ok((verification, key))
}

fn verification(
    key: ObjectIdentifier,
    curve: Option<ObjectIdentifier>,
    algorithm: SignatureAlgorithm,
) -> Option<&'static dyn VerificationAlgorithm> {
    use SignatureAlgorithm as S;
    Some(match (key, curve, algorithm) {
        (RSA, _, S::RsaPkcs1Sha256) => &aws::RSA_PKCS1_2048_8192_SHA256,
        (RSA, _, S::RsaPkcs1Sha384) => &aws::RSA_PKCS1_2048_8192_SHA384,
        (RSA, _, S::RsaPkcs1Sha512) => &aws::RSA_PKCS1_2048_8192_SHA512,
        (RSA, _, S::RsaPssSha256) => &aws::RSA_PSS_2048_8192_SHA256,
        (RSA, _, S::RsaPssSha384) => &aws::RSA_PSS_2048_8192_SHA384,
        (RSA, _, S::RsaPssSha512) => &aws::RSA_PSS_2048_8192_SHA512,
        (EC, Some(P256), S::EcdsaSha256) => &aws::ECDSA_P256_SHA256_ASN1,
        (EC, Some(P256), S::EcdsaSha384) => &aws::ECDSA_P256_SHA384_ASN1,
        (EC, Some(P256), S::EcdsaSha512) => &aws::ECDSA_P256_SHA512_ASN1,
        (EC, Some(P384), S::EcdsaSha256) => &aws::ECDSA_P384_SHA256_ASN1,
        (EC, Some(P384), S::EcdsaSha384) => &aws::ECDSA_P384_SHA384_ASN1,
        (EC, Some(P384), S::EcdsaSha512) => &aws::ECDSA_P384_SHA512_ASN1,
        (EC, Some(P521), S::EcdsaSha256) => &aws::ECDSA_P521_SHA256_ASN1,
        (EC, Some(P521), S::EcdsaSha384) => &aws::ECDSA_P521_SHA384_ASN1,
        (EC, Some(P521), S::EcdsaSha512) => &aws::ECDSA_P521_SHA512_ASN1,
        (ED25519, _, S::Ed25519) => &aws::ED25519,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use der::Encode as _;
    use spki::AlgorithmIdentifierRef;

    use super::*;

    #[test]
    fn every_algorithm_identifier_is_canonical_der_and_names_one_algorithm() {
        for algorithm in SignatureAlgorithm::ALL {
            let der = algorithm.algorithm_identifier();

            let parsed = AlgorithmIdentifierRef::from_der(der).unwrap();

            assert_eq!(parsed.to_der().unwrap(), der, "{algorithm:?}");
            assert_eq!(SignatureAlgorithm::from_algorithm_identifier(der), Some(algorithm));
        }
    }
}
