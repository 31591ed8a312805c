//! Key pairs that the service makes: for those who ask with a DN, and for itself.
//!
//! A private key lives in wiped memory, is never printed, and leaves only inside a package that its
//! owner's password opens.

mod csr;
mod locked_page;
mod maker;
mod pool;

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der, PublicKeyX509Der};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::rsa::{self, KeySize};
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_ASN1_SIGNING, ECDSA_P384_SHA384_ASN1_SIGNING, ECDSA_P521_SHA512_ASN1_SIGNING,
    EcdsaKeyPair, EcdsaSigningAlgorithm, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RsaEncoding,
};
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use zeroize::Zeroizing;

pub use csr::CsrError;
pub use maker::{KeyMaker, MakeError};
pub use pool::PoolSize;

/// A key pair. aws-lc-rs wipes the private half when it goes.
pub struct KeyPair {
    algorithm: KeyAlgorithm,
    pair: Pair,
    spki: Vec<u8>,
}

enum Pair {
    Rsa(rsa::KeyPair),
    Ec(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// Says what kind of key it is, and nothing of the key.
impl std::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyPair").field("algorithm", &self.algorithm).finish_non_exhaustive()
    }
}

impl KeyPair {
    /// Makes one. An RSA key takes a processor for a while.
    ///
    /// # Errors
    ///
    /// The crypto library made none.
    pub fn generate(algorithm: KeyAlgorithm) -> Result<Self, Unspecified> {
        let pair = match algorithm {
            KeyAlgorithm::Rsa2048 => Pair::Rsa(rsa::KeyPair::generate(KeySize::Rsa2048)?),
            KeyAlgorithm::Rsa3072 => Pair::Rsa(rsa::KeyPair::generate(KeySize::Rsa3072)?),
            KeyAlgorithm::Rsa4096 => Pair::Rsa(rsa::KeyPair::generate(KeySize::Rsa4096)?),
            KeyAlgorithm::EcdsaP256 => elliptic(&ECDSA_P256_SHA256_ASN1_SIGNING)?,
            KeyAlgorithm::EcdsaP384 => elliptic(&ECDSA_P384_SHA384_ASN1_SIGNING)?,
            KeyAlgorithm::EcdsaP521 => elliptic(&ECDSA_P521_SHA512_ASN1_SIGNING)?,
            KeyAlgorithm::Ed25519 => Pair::Ed25519(Ed25519KeyPair::generate()?),
        };
        Self::new(algorithm, pair)
    }

    /// The RSA key of what [`Self::to_pkcs8`] wrote.
    ///
    /// # Errors
    ///
    /// It is none.
    fn from_pkcs8(algorithm: KeyAlgorithm, pkcs8: &[u8]) -> Result<Self, Unspecified> {
        let pair = rsa::KeyPair::from_pkcs8(pkcs8).map_err(|_| Unspecified)?;
        Self::new(algorithm, Pair::Rsa(pair))
    }

    fn new(algorithm: KeyAlgorithm, pair: Pair) -> Result<Self, Unspecified> {
        let spki: PublicKeyX509Der<'_> = match &pair {
            Pair::Rsa(pair) => pair.public_key().as_der()?,
            Pair::Ec(pair) => pair.public_key().as_der()?,
            Pair::Ed25519(pair) => pair.public_key().as_der()?,
        };
        let spki = spki.as_ref().to_vec();
        Ok(Self { algorithm, pair, spki })
    }

    /// What kind of key it is.
    pub fn algorithm(&self) -> KeyAlgorithm {
        self.algorithm
    }

    /// DER of the SubjectPublicKeyInfo.
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// The private key as PKCS#8, version 1: readers of version 2 are rare.
    ///
    /// # Errors
    ///
    /// The crypto library wrote none.
    pub fn to_pkcs8(&self) -> Result<Zeroizing<Vec<u8>>, Unspecified> {
        let bytes = match &self.pair {
            Pair::Rsa(pair) => {
                let der: Pkcs8V1Der<'_> = pair.as_der()?;
                der.as_ref().to_vec()
            }
            Pair::Ec(pair) => pair.to_pkcs8v1()?.as_ref().to_vec(),
            Pair::Ed25519(pair) => pair.to_pkcs8v1()?.as_ref().to_vec(),
        };
        Ok(Zeroizing::new(bytes))
    }

    /// Signs `message`. An EC key signs with the hash of its curve alone.
    fn sign(&self, how: SignatureAlgorithm, message: &[u8]) -> Result<Vec<u8>, Unspecified> {
        let random = SystemRandom::new();
        match (&self.pair, how) {
            (Pair::Rsa(pair), how) => {
                let encoding: &'static dyn RsaEncoding = match how {
                    SignatureAlgorithm::RsaPkcs1Sha256 => &RSA_PKCS1_SHA256,
                    SignatureAlgorithm::RsaPkcs1Sha384 => &RSA_PKCS1_SHA384,
                    SignatureAlgorithm::RsaPkcs1Sha512 => &RSA_PKCS1_SHA512,
                    _ => return Err(Unspecified),
                };
                let mut signature = vec![0; pair.public_modulus_len()];
                pair.sign(encoding, &random, message, &mut signature)?;
                Ok(signature)
            }
            (Pair::Ec(pair), how) => {
                let fits = matches!(
                    (self.algorithm, how),
                    (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256)
                        | (KeyAlgorithm::EcdsaP384, SignatureAlgorithm::EcdsaSha384)
                        | (KeyAlgorithm::EcdsaP521, SignatureAlgorithm::EcdsaSha512)
                );
                if !fits {
                    return Err(Unspecified);
                }
                Ok(pair.sign(&random, message)?.as_ref().to_vec())
            }
            (Pair::Ed25519(pair), SignatureAlgorithm::Ed25519) => {
                Ok(pair.sign(message).as_ref().to_vec())
            }
            (Pair::Ed25519(_), _) => Err(Unspecified),
        }
    }
}

fn elliptic(algorithm: &'static EcdsaSigningAlgorithm) -> Result<Pair, Unspecified> {
    EcdsaKeyPair::generate(algorithm).map(Pair::Ec)
}

#[cfg(test)]
mod tests;
