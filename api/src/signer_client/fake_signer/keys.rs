//! The fake's keys, made and used by the crypto backend.

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    self as aws, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RsaKeyPair,
};
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};

/// A key pair that signs in one way, as a CA key does.
pub(super) enum KeyPair {
    Rsa(RsaKeyPair, &'static dyn aws::RsaEncoding),
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

impl KeyPair {
    pub(super) fn generate(key: KeyAlgorithm, signature: SignatureAlgorithm) -> Self {
        let rsa = |size| Self::Rsa(RsaKeyPair::generate(size).unwrap(), encoding(signature));
        match key {
            KeyAlgorithm::Rsa2048 => rsa(KeySize::Rsa2048),
            KeyAlgorithm::Rsa3072 => rsa(KeySize::Rsa3072),
            KeyAlgorithm::Rsa4096 => rsa(KeySize::Rsa4096),
            KeyAlgorithm::EcdsaP256 | KeyAlgorithm::EcdsaP384 | KeyAlgorithm::EcdsaP521 => {
                Self::Ecdsa(EcdsaKeyPair::generate(curve(key, signature)).unwrap())
            }
            KeyAlgorithm::Ed25519 => Self::Ed25519(Ed25519KeyPair::generate().unwrap()),
        }
    }

    pub(super) fn spki(&self) -> Vec<u8> {
        let der: PublicKeyX509Der<'_> = match self {
            Self::Rsa(pair, _) => pair.public_key().as_der().unwrap(),
            Self::Ecdsa(pair) => pair.public_key().as_der().unwrap(),
            Self::Ed25519(pair) => pair.public_key().as_der().unwrap(),
        };
        der.as_ref().to_vec()
    }

    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(*encoding, &random, message, &mut signature).unwrap();
                signature
            }
            Self::Ecdsa(pair) => pair.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed25519(pair) => pair.sign(message).as_ref().to_vec(),
        }
    }
}

fn encoding(signature: SignatureAlgorithm) -> &'static dyn aws::RsaEncoding {
    match signature {
        SignatureAlgorithm::RsaPkcs1Sha256 => &aws::RSA_PKCS1_SHA256,
        SignatureAlgorithm::RsaPkcs1Sha384 => &aws::RSA_PKCS1_SHA384,
        SignatureAlgorithm::RsaPkcs1Sha512 => &aws::RSA_PKCS1_SHA512,
        SignatureAlgorithm::RsaPssSha256 => &aws::RSA_PSS_SHA256,
        SignatureAlgorithm::RsaPssSha384 => &aws::RSA_PSS_SHA384,
        SignatureAlgorithm::RsaPssSha512 => &aws::RSA_PSS_SHA512,
        other => panic!("{other:?} is no RSA algorithm"),
    }
}

fn curve(key: KeyAlgorithm, signature: SignatureAlgorithm) -> &'static EcdsaSigningAlgorithm {
    match (key, signature) {
        (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256) => {
            &aws::ECDSA_P256_SHA256_ASN1_SIGNING
        }
        (KeyAlgorithm::EcdsaP384, SignatureAlgorithm::EcdsaSha384) => {
            &aws::ECDSA_P384_SHA384_ASN1_SIGNING
        }
        (KeyAlgorithm::EcdsaP521, SignatureAlgorithm::EcdsaSha512) => {
            &aws::ECDSA_P521_SHA512_ASN1_SIGNING
        }
        other => panic!("the fake does not sign {other:?}"),
    }
}
