//! The kinds of key that are measured: the CA's and the CSRs' alike.

use anyhow::ensure;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1,
    ECDSA_P384_SHA384_ASN1_SIGNING, ED25519, EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair,
    KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_SHA256, RsaKeyPair, UnparsedPublicKey,
};
use clap::ValueEnum;
use cryptoki::mechanism::Mechanism;
use cryptoki::mechanism::eddsa::{EddsaParams, EddsaSignatureScheme};
use serde::Serialize;

/// A kind of key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    P256,
    P384,
    Rsa2048,
    Rsa3072,
    Ed25519,
}

impl Kind {
    /// As the REST API names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::P256 => "ECDSA P-256",
            Self::P384 => "ECDSA P-384",
            Self::Rsa2048 => "RSA 2048",
            Self::Rsa3072 => "RSA 3072",
            Self::Ed25519 => "Ed25519",
        }
    }

    /// What the token is asked for, and how many bytes it is given: a digest, or a text as long as
    /// a TBSCertificate is.
    pub(crate) fn mechanism(self) -> (Mechanism<'static>, usize) {
        const TEXT: usize = 600;
        let eddsa = EddsaParams::new(EddsaSignatureScheme::Ed25519);
        match self {
            Self::P256 => (Mechanism::Ecdsa, 32),
            Self::P384 => (Mechanism::Ecdsa, 48),
            Self::Rsa2048 | Self::Rsa3072 => (Mechanism::Sha256RsaPkcs, TEXT),
            Self::Ed25519 => (Mechanism::Eddsa(eddsa), TEXT),
        }
    }

    /// A verification of one signature of this kind, again and again.
    pub(crate) fn verification(self) -> anyhow::Result<Box<dyn Fn() -> anyhow::Result<()>>> {
        const TEXT: &[u8] = &[7; 600];
        let (algorithm, public, signature): (
            &'static dyn aws_lc_rs::signature::VerificationAlgorithm,
            Vec<u8>,
            Vec<u8>,
        ) = match self {
            Self::P256 | Self::P384 => {
                let how: &'static EcdsaSigningAlgorithm = match self {
                    Self::P256 => &ECDSA_P256_SHA256_ASN1_SIGNING,
                    _ => &ECDSA_P384_SHA384_ASN1_SIGNING,
                };
                let pair = EcdsaKeyPair::generate(how)?;
                let signature = pair.sign(&SystemRandom::new(), TEXT)?.as_ref().to_vec();
                let public = pair.public_key().as_ref().to_vec();
                match self {
                    Self::P256 => (&ECDSA_P256_SHA256_ASN1, public, signature),
                    _ => (&ECDSA_P384_SHA384_ASN1, public, signature),
                }
            }
            Self::Rsa2048 | Self::Rsa3072 => {
                let size = if self == Self::Rsa2048 { KeySize::Rsa2048 } else { KeySize::Rsa3072 };
                let pair = RsaKeyPair::generate(size)?;
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), TEXT, &mut signature)?;
                (&RSA_PKCS1_2048_8192_SHA256, pair.public_key().as_ref().to_vec(), signature)
            }
            Self::Ed25519 => {
                let pair = Ed25519KeyPair::generate()?;
                let signature = pair.sign(TEXT).as_ref().to_vec();
                (&ED25519, pair.public_key().as_ref().to_vec(), signature)
            }
        };
        let key = UnparsedPublicKey::new(algorithm, public);
        Ok(Box::new(move || {
            ensure!(key.verify(TEXT, &signature).is_ok(), "a good signature is refused");
            Ok(())
        }))
    }
}
