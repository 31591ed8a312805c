//! Everything that the record says of a certificate and that stands in the certificate itself.

use aws_lc_rs::digest::{SHA256, digest};
use der::Tag;
use der::asn1::ObjectIdentifier;
use sha1::{Digest as _, Sha1};
use time::OffsetDateTime;

use super::algorithms;
use super::fields::{CertificateFields, NotACertificate};
use super::{CertificatePolicy, ExtendedKeyUsage, KeyUsage, pointers};
use crate::asn1::Tlv;
use crate::name::{DistinguishedName, SubjectAltName};

/// What a certificate says. Every text is in the form of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFacts {
    /// The most specific CN; empty where there is none.
    pub common_name: String,
    /// RFC 4514; empty for an empty subject.
    pub subject_dn: String,
    /// RFC 4514.
    pub issuer_dn: String,
    /// SHA-256 over issuer and authority key identifier: whose certificate this is.
    pub issuer_key: String,
    /// Hexadecimal, an even number of digits, no sign octet.
    pub serial_number: String,
    /// Such as `RSA`.
    pub signature_algorithm: String,
    /// Such as `SHA-256`; empty where the signature algorithm leaves no choice.
    pub hash_algorithm: &'static str,
    /// In the order of the bits.
    pub key_usages: Vec<KeyUsage>,
    /// In the order of the certificate.
    pub extended_key_usages: Vec<ExtendedKeyUsage>,
    /// `TYPE:value`.
    pub subject_alt_names: Vec<String>,
    /// First second of its life.
    pub not_before: OffsetDateTime,
    /// Last second of its life.
    pub not_after: OffsetDateTime,
    /// Whether basicConstraints say so.
    pub is_ca: bool,
    /// `OCSP:<url>` and `CAISSUERS:<url>`.
    pub aias: Vec<String>,
    /// URLs.
    pub cdps: Vec<String>,
    /// SHA-1 of the DER.
    pub thumbprint: String,
    /// Policies and their qualifiers.
    pub policies: Vec<CertificatePolicy>,
    /// Bits as text; empty where unknown.
    pub key_size: String,
    /// Of EC and Edwards keys.
    pub ecc_curve: Option<String>,
    /// Of Microsoft's CA.
    pub ms_template_name: Option<String>,
}

impl CertificateFacts {
    /// Reads the DER of a certificate.
    ///
    /// # Errors
    ///
    /// It is no certificate. An extension that can't be read is no error: its facts are absent.
    pub fn read(der: &[u8]) -> Result<Self, NotACertificate> {
        let fields = CertificateFields::read(der)?;
        let subject = DistinguishedName::from_der(fields.subject)?;
        let issuer = DistinguishedName::from_der(fields.issuer)?;
        let (signature_algorithm, hash_algorithm) =
            algorithms::signature(fields.signature_algorithm);
        let (key_size, ecc_curve) = algorithms::public_key(fields.spki);
        let template = |oid| fields.extension(oid).next();
        Ok(Self {
            common_name: subject.common_name().unwrap_or_default(),
            subject_dn: subject.to_string(),
            issuer_dn: issuer.to_string(),
            issuer_key: issuer_key(fields.issuer, fields.authority_key_identifier()),
            serial_number: serial_number(fields.serial_number),
            signature_algorithm,
            hash_algorithm,
            key_usages: each(&fields, "2.5.29.15", key_usages),
            extended_key_usages: each(&fields, "2.5.29.37", extended_key_usages),
            subject_alt_names: each(&fields, "2.5.29.17", SubjectAltName::show_all),
            not_before: fields.not_before,
            not_after: fields.not_after,
            is_ca: fields.extension("2.5.29.19").any(|value| is_ca(value) == Some(true)),
            aias: each(&fields, "1.3.6.1.5.5.7.1.1", pointers::aias),
            cdps: each(&fields, "2.5.29.31", pointers::cdps),
            thumbprint: hex::encode(Sha1::digest(der)),
            policies: each(&fields, "2.5.29.32", |value| CertificatePolicy::read_all(value).ok()),
            key_size,
            ecc_curve,
            ms_template_name: algorithms::ms_template_name(
                template("1.3.6.1.4.1.311.20.2"),
                template("1.3.6.1.4.1.311.21.7"),
            ),
        })
    }
}

/// What stands for an issuer in the store: its name and its key together, so that a CA that was
/// made again under the same name is another one.
pub fn issuer_key(issuer: &[u8], authority_key_identifier: Option<&[u8]>) -> String {
    let both = [issuer, authority_key_identifier.unwrap_or_default()].concat();
    hex::encode(digest(&SHA256, &both))
}

/// A serial number as people compare it.
pub fn serial_number(content: &[u8]) -> String {
    let zeros = content.iter().take_while(|octet| **octet == 0).count();
    match content.get(zeros..) {
        Some(number) if !number.is_empty() => hex::encode(number),
        _ => "00".to_owned(),
    }
}

fn each<T>(
    fields: &CertificateFields<'_>,
    oid: &str,
    read: impl Fn(&[u8]) -> Option<Vec<T>>,
) -> Vec<T> {
    fields.extension(oid).filter_map(read).flatten().collect()
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

fn is_ca(value: &[u8]) -> Option<bool> {
    let parts = Tlv::read(value).ok()?.children().ok()?;
    let flag = parts.first().filter(|part| part.tag == Tag::Boolean);
    Some(flag.is_some_and(|flag| flag.content.iter().any(|octet| *octet != 0)))
}
