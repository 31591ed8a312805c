//! The attributes with which keys are made. They are never changed afterwards: to change them on
//! a key that is in use can destroy it.

use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, ObjectClass};
use cryptoki::types::Ulong;

use super::mechanism::mechanism;

/// How a key pair of this kind is generated.
pub(super) fn generator(algorithm: KeyAlgorithm) -> Mechanism<'static> {
    match algorithm {
        KeyAlgorithm::Rsa2048 | KeyAlgorithm::Rsa3072 | KeyAlgorithm::Rsa4096 => {
            Mechanism::RsaPkcsKeyPairGen
        }
        KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::EcdsaP521 => {
            Mechanism::EccKeyPairGen
        }
        KeyAlgorithm::Ed25519 => Mechanism::EccEdwardsKeyPairGen,
    }
}

/// The public half: no token object, because the SubjectPublicKeyInfo is kept elsewhere and each
/// object of a token costs start-up time.
pub(super) fn public_half(algorithm: KeyAlgorithm, ec_params: Option<&[u8]>) -> Vec<Attribute> {
    let mut template =
        vec![Attribute::Token(false), Attribute::Private(false), Attribute::Verify(true)];
    match (algorithm, ec_params) {
        (KeyAlgorithm::Rsa2048, _) => template.extend(rsa(2048)),
        (KeyAlgorithm::Rsa3072, _) => template.extend(rsa(3072)),
        (KeyAlgorithm::Rsa4096, _) => template.extend(rsa(4096)),
        (_, Some(params)) => template.push(Attribute::EcParams(params.to_vec())),
        (_, None) => {}
    }
    template
}

/// The private half: on the token, never to leave it, for exactly one mechanism.
pub(super) fn private_half(
    id: &[u8],
    label: &[u8],
    algorithm: SignatureAlgorithm,
) -> Vec<Attribute> {
    vec![
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Copyable(false),
        Attribute::Sign(true),
        Attribute::SignRecover(false),
        Attribute::Decrypt(false),
        Attribute::Unwrap(false),
        Attribute::Derive(false),
        Attribute::AllowedMechanisms(vec![mechanism(algorithm).mechanism_type()]),
        Attribute::Id(id.to_vec()),
        Attribute::Label(label.to_vec()),
    ]
}

/// The AES-256 key that seals data keys.
pub(super) fn seal_key(id: &[u8]) -> Vec<Attribute> {
    vec![
        Attribute::Class(ObjectClass::SECRET_KEY),
        Attribute::Token(true),
        Attribute::Private(true),
        Attribute::Sensitive(true),
        Attribute::Extractable(false),
        Attribute::Copyable(false),
        Attribute::Encrypt(true),
        Attribute::Decrypt(true),
        // SoftHSM2 lets an AES key sign unless it is told not to.
        Attribute::Sign(false),
        Attribute::Verify(false),
        Attribute::Wrap(false),
        Attribute::Unwrap(false),
        Attribute::Derive(false),
        Attribute::ValueLen(Ulong::new(32)),
        Attribute::AllowedMechanisms(vec![MechanismType::AES_GCM]),
        Attribute::Id(id.to_vec()),
        Attribute::Label(id.to_vec()),
    ]
}

fn rsa(bits: u64) -> [Attribute; 2] {
    [Attribute::ModulusBits(Ulong::new(bits)), Attribute::PublicExponent(vec![1, 0, 1])]
}
