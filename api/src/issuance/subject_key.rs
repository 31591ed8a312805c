//! The public key of a request: of a kind that is taken here, well-formed, and not known weak.

use aws_lc_rs::signature::{self, ParsedPublicKey, VerificationAlgorithm};
use chancery_shared::weak_key::{self, WeakModulus};
use chancery_shared::wire::policy::SubjectKey;
use der::asn1::{ObjectIdentifier, UintRef};
use der::{Decode as _, Encode as _, Tag};
use spki::SubjectPublicKeyInfoRef;

use crate::asn1::Tlv;

/// A kind of key that can be certified, and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKeyKind {
    /// RSA with a modulus of so many bits.
    Rsa {
        /// Bits of the modulus.
        bits: usize,
    },
    /// P-256.
    EcP256,
    /// P-384.
    EcP384,
    /// P-521.
    EcP521,
    /// Ed25519.
    Ed25519,
}

/// Why a key is not certified.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubjectKeyError {
    /// Not the DER of a SubjectPublicKeyInfo, or not in its one canonical form.
    #[error(
        "the public key is not well-formed; only a SubjectPublicKeyInfo in DER, with the \
         parameters of its algorithm and nothing behind the key, passes"
    )]
    Malformed,
    /// An algorithm that is not taken.
    #[error(
        "keys of type {0} are not accepted; RSA, ECDSA on P-256, P-384 or P-521, and Ed25519 are"
    )]
    Algorithm(String),
    /// A curve that is not taken, or explicit curve parameters.
    #[error("the curve {0} is not accepted; P-256, P-384 and P-521 are")]
    Curve(String),
    /// A point that is compressed, hybrid, at infinity or not on the curve.
    #[error(
        "the public key is not a point on its curve in uncompressed form (04, x, y); only that \
         form passes (RFC 5480)"
    )]
    Point,
    /// RSA under 2,048 or over 8,192 bits.
    #[error("an RSA key of {0} bits is not accepted; 2048 to 8192 bits are")]
    RsaSize(usize),
    /// RSA with an exponent that is even, under 65,537 or over 32 bits.
    #[error("the RSA exponent is not accepted; 65537 is, and an odd one from there to 2^32")]
    RsaExponent,
    /// A modulus that is even.
    #[error("the RSA modulus is even; only a product of two large primes passes")]
    RsaEven,
    /// One of the bad keys.
    #[error(
        "its private key is known: it was published, or is on the list of csr.bad-keys.file; make \
         a new key"
    )]
    Known,
    /// A modulus that is easy to factor.
    #[error("the RSA key is weak: {0}")]
    Weak(WeakModulus),
}

const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const P521: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");

/// Kinds of key that people send and that are not taken, by the names they know.
const OTHERS: [(&str, &str); 13] = [
    ("1.2.840.10040.4.1", "DSA"),
    ("1.3.101.113", "Ed448"),
    ("1.3.101.110", "X25519"),
    ("1.3.101.111", "X448"),
    ("1.2.840.10046.2.1", "Diffie-Hellman"),
    ("2.16.840.1.101.3.4.4.1", "ML-KEM-512"),
    ("2.16.840.1.101.3.4.4.2", "ML-KEM-768"),
    ("2.16.840.1.101.3.4.4.3", "ML-KEM-1024"),
    ("1.2.840.113549.1.1.10", "RSASSA-PSS"),
    ("1.3.132.0.10", "secp256k1"),
    ("1.2.840.10045.3.1.1", "P-192"),
    ("1.3.36.3.3.2.8.1.1.7", "brainpoolP256r1"),
    ("1.2.156.10197.1.301", "SM2"),
];

impl SubjectKeyKind {
    /// Reads and checks a SubjectPublicKeyInfo.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn read(spki: &[u8]) -> Result<Self, SubjectKeyError> {
        let info =
            SubjectPublicKeyInfoRef::from_der(spki).map_err(|_| SubjectKeyError::Malformed)?;
        if info.to_der().ok().as_deref() != Some(spki) {
            return Err(SubjectKeyError::Malformed);
        }
        let key = info.subject_public_key.as_bytes().ok_or(SubjectKeyError::Malformed)?;
        match info.algorithm.oid {
            RSA => {
                let parameters = info.algorithm.parameters;
                if parameters.is_none_or(|parameters| !parameters.is_null()) {
                    return Err(SubjectKeyError::Malformed);
                }
                rsa(key)
            }
            EC => elliptic(info.algorithm.parameters, key),
            ED25519 if info.algorithm.parameters.is_some() => Err(SubjectKeyError::Malformed),
            ED25519 if key.try_into().is_ok_and(weak_key::has_small_order) => {
                Err(SubjectKeyError::Point)
            }
            ED25519 => on_curve(&signature::ED25519, key, Self::Ed25519),
            other => Err(SubjectKeyError::Algorithm(named(other))),
        }
    }

    /// The strongest entry of a policy that this key satisfies.
    pub fn subject_key(self) -> SubjectKey {
        match self {
            Self::Rsa { bits: 4096.. } => SubjectKey::Rsa4096,
            Self::Rsa { bits: 3072.. } => SubjectKey::Rsa3072,
            Self::Rsa { .. } => SubjectKey::Rsa2048,
            Self::EcP256 => SubjectKey::EcP256,
            Self::EcP384 => SubjectKey::EcP384,
            Self::EcP521 => SubjectKey::EcP521,
            Self::Ed25519 => SubjectKey::Ed25519,
        }
    }
}

fn rsa(key: &[u8]) -> Result<SubjectKeyKind, SubjectKeyError> {
    let malformed = |_| SubjectKeyError::Malformed;
    let sequence = Tlv::read(key).and_then(|key| key.expect(Tag::Sequence)).map_err(malformed)?;
    let parts = sequence.children().map_err(malformed)?;
    let [modulus, exponent] = parts.as_slice() else { return Err(SubjectKeyError::Malformed) };
    let modulus = UintRef::from_der(modulus.der).map_err(malformed)?.as_bytes();
    let exponent = UintRef::from_der(exponent.der).map_err(malformed)?.as_bytes();
    let bits = bits(modulus);
    if !(2048..=8192).contains(&bits) {
        return Err(SubjectKeyError::RsaSize(bits));
    }
    // Above 32 bits common verifiers refuse the key; below 65,537 padding faults become forgeries.
    let exponent = exponent.iter().try_fold(0_u32, |value, byte| {
        value.checked_mul(256).map(|value| value | u32::from(*byte))
    });
    if !exponent.is_some_and(|e| e >= 65_537 && e % 2 == 1) {
        return Err(SubjectKeyError::RsaExponent);
    }
    if modulus.last().is_none_or(|last| last % 2 == 0) {
        return Err(SubjectKeyError::RsaEven);
    }
    weak_key::check_modulus(modulus).map_err(SubjectKeyError::Weak)?;
    Ok(SubjectKeyKind::Rsa { bits })
}

fn elliptic(
    parameters: Option<der::asn1::AnyRef<'_>>,
    key: &[u8],
) -> Result<SubjectKeyKind, SubjectKeyError> {
    let parameters = parameters.ok_or(SubjectKeyError::Malformed)?;
    let curve = parameters
        .decode_as::<ObjectIdentifier>()
        .map_err(|_| SubjectKeyError::Curve("with explicit parameters".to_owned()))?;
    // RFC 5480 forbids hybrid points, and clients choke on compressed ones.
    let uncompressed = key.first() == Some(&4);
    let (algorithm, kind): (&'static dyn VerificationAlgorithm, _) = match curve {
        P256 => (&signature::ECDSA_P256_SHA256_ASN1, SubjectKeyKind::EcP256),
        P384 => (&signature::ECDSA_P384_SHA384_ASN1, SubjectKeyKind::EcP384),
        P521 => (&signature::ECDSA_P521_SHA512_ASN1, SubjectKeyKind::EcP521),
        other => return Err(SubjectKeyError::Curve(named(other))),
    };
    if uncompressed { on_curve(algorithm, key, kind) } else { Err(SubjectKeyError::Point) }
}

fn on_curve(
    algorithm: &'static dyn VerificationAlgorithm,
    key: &[u8],
    kind: SubjectKeyKind,
) -> Result<SubjectKeyKind, SubjectKeyError> {
    ParsedPublicKey::new(algorithm, key).map(|_| kind).map_err(|_| SubjectKeyError::Point)
}

/// How many bits a big-endian number has.
pub(crate) fn bits(number: &[u8]) -> usize {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    let Some(first) = number.get(zeros) else { return 0 };
    let top = usize::try_from(8 - first.leading_zeros()).unwrap_or_default();
    (number.len() - zeros - 1) * 8 + top
}

fn named(oid: ObjectIdentifier) -> String {
    let dotted = oid.to_string();
    let known = OTHERS.iter().find(|(other, _)| *other == dotted);
    known.map_or(dotted, |(_, name)| (*name).to_owned())
}
