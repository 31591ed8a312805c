//! Everything that the record says of a certificate and that stands in the certificate itself.

use der::Tag;
use der::asn1::ObjectIdentifier;

use super::algorithms;
use super::extension_oid as oid;
use super::fields::{CertificateFields, NotACertificate};
use super::recorded_facts::RecordedFacts;
use super::{CertificatePolicy, ExtendedKeyUsage, KeyUsage, pointers};
use crate::asn1::Tlv;

/// What a certificate says. Every text is in the form of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// What its record keeps.
    pub recorded: RecordedFacts,
    /// Such as `RSA`.
    pub signature_algorithm: String,
    /// Such as `SHA-256`; empty where the signature algorithm leaves no choice.
    pub hash_algorithm: &'static str,
    /// In the order of the bits.
    pub key_usages: Vec<KeyUsage>,
    /// In the order of the certificate.
    pub extended_key_usages: Vec<ExtendedKeyUsage>,
    /// `OCSP:<url>` and `CAISSUERS:<url>`.
    pub aias: Vec<String>,
    /// URLs.
    pub cdps: Vec<String>,
    /// Policies and their qualifiers.
    pub policies: Vec<CertificatePolicy>,
    /// Bits as text; empty where unknown.
    pub key_size: String,
    /// Of EC and Edwards keys.
    pub ecc_curve: Option<String>,
}

impl CertificateFacts {
    /// Reads the DER of a certificate.
    ///
    /// # Errors
    ///
    /// It is no certificate. An extension that can't be read is no error: its facts are absent.
    pub fn read(der: &[u8]) -> Result<Self, NotACertificate> {
        let fields = CertificateFields::read(der)?;
        let (signature_algorithm, hash_algorithm) =
            algorithms::signature(fields.signature_algorithm);
        let (key_size, ecc_curve) = algorithms::public_key(fields.spki);
        Ok(Self {
            recorded: RecordedFacts::of(&fields, der)?,
            signature_algorithm,
            hash_algorithm,
            key_usages: fields.each(oid::KEY_USAGE, key_usages),
            extended_key_usages: fields.each(oid::EXTENDED_KEY_USAGE, extended_key_usages),
            aias: fields.each(oid::AUTHORITY_INFO_ACCESS, pointers::aias),
            cdps: fields.each(oid::CRL_DISTRIBUTION_POINTS, pointers::cdps),
            policies: fields
                .each(oid::CERTIFICATE_POLICIES, |value| CertificatePolicy::read_all(value).ok()),
            key_size,
            ecc_curve,
        })
    }
}

fn key_usages(value: &[u8]) -> Option<Vec<KeyUsage>> {
    let content = Tlv::read(value).ok()?.expect(Tag::BitString).ok()?.content;
    let bits = content.get(1..)?;
    let is_set = |at: usize| bits.get(at / 8).is_some_and(|octet| octet << (at % 8) & 0x80 != 0);
    Some(
        KeyUsage::ALL
            .into_iter()
            .enumerate()
            .filter(|(at, _)| is_set(*at))
            .map(|(_, u)| u)
            .collect(),
    )
}

fn extended_key_usages(value: &[u8]) -> Option<Vec<ExtendedKeyUsage>> {
    let purposes = Tlv::read(value).ok()?.children().ok()?;
    let oids = purposes.iter().filter_map(|p| ObjectIdentifier::from_bytes(p.content).ok());
    Some(oids.map(ExtendedKeyUsage).collect())
}
