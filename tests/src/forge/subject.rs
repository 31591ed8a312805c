//! A subject with a key of its own, and the CSR that proves it.

use anyhow::Context as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

use super::der::{bits, context, integer, oid, sequence, set, tlv};

/// A P-256 key pair of a subject.
#[derive(Debug)]
pub struct SubjectKey {
    pair: EcdsaKeyPair,
    /// DER of the SubjectPublicKeyInfo.
    pub spki: Vec<u8>,
    /// The public point, uncompressed.
    pub point: Vec<u8>,
}

impl SubjectKey {
    /// A fresh key pair.
    ///
    /// # Errors
    ///
    /// The generator failed.
    pub fn generate() -> anyhow::Result<Self> {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).context("key pair")?;
        let point = pair.public_key().as_ref().to_vec();
        let spki = spki("1.2.840.10045.2.1", &oid("1.2.840.10045.3.1.7"), &point);
        Ok(Self { pair, spki, point })
    }

    /// A CSR for this key and that subject.
    ///
    /// # Errors
    ///
    /// The signature failed.
    pub fn csr(&self, subject: &[u8]) -> anyhow::Result<Vec<u8>> {
        let info = sequence(&[integer(&[0]), subject.to_vec(), self.spki.clone(), context(0, &[])]);
        self.request(&info)
    }

    /// A CSR around this info, signed with this key.
    ///
    /// # Errors
    ///
    /// The signature failed.
    pub fn request(&self, info: &[u8]) -> anyhow::Result<Vec<u8>> {
        let signature = self.pair.sign(&SystemRandom::new(), info).context("signature")?;
        let algorithm = sequence(&[oid("1.2.840.10045.4.3.2")]);
        Ok(sequence(&[info.to_vec(), algorithm, bits(signature.as_ref())]))
    }
}

/// A SubjectPublicKeyInfo.
#[must_use]
pub fn spki(algorithm: &str, parameters: &[u8], key: &[u8]) -> Vec<u8> {
    sequence(&[sequence(&[oid(algorithm), parameters.to_vec()]), bits(key)])
}

/// A Name with one common name.
#[must_use]
pub fn common_name(value: &str) -> Vec<u8> {
    name(&[("2.5.4.3", tlv(0x0c, value.as_bytes()))])
}

/// A Name with these attributes, one in each RDN.
#[must_use]
pub fn name(attributes: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let rdns: Vec<Vec<u8>> = attributes
        .iter()
        .map(|(kind, value)| set(&[sequence(&[oid(kind), value.clone()])]))
        .collect();
    sequence(&rdns)
}
