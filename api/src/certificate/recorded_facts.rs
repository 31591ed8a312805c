//! What the record of a certificate keeps of the certificate itself, beside its DER.

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::hexadecimal;
use der::Tag;
use sha1::{Digest as _, Sha1};
use time::OffsetDateTime;

use super::algorithms;
use super::extension_oid as oid;
use super::fields::{CertificateFields, NotACertificate};
use crate::asn1::Tlv;
use crate::name::{DistinguishedName, SubjectAltName};

/// What records are searched by and listed with. Every text is in the form of the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedFacts {
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
    /// `TYPE:value`.
    pub subject_alt_names: Vec<String>,
    /// First second of its life.
    pub not_before: OffsetDateTime,
    /// Last second of its life.
    pub not_after: OffsetDateTime,
    /// Whether basicConstraints say so.
    pub is_ca: bool,
    /// SHA-1 of the DER.
    pub thumbprint: String,
    /// Of Microsoft's CA.
    pub ms_template_name: Option<String>,
}

impl RecordedFacts {
    /// Reads the DER of a certificate.
    ///
    /// # Errors
    ///
    /// It is no certificate. An extension that can't be read is no error: its facts are absent.
    pub fn read(der: &[u8]) -> Result<Self, NotACertificate> {
        Self::of(&CertificateFields::read(der)?, der)
    }

    pub(super) fn of(fields: &CertificateFields<'_>, der: &[u8]) -> Result<Self, NotACertificate> {
        let subject = DistinguishedName::from_der(fields.subject)?;
        let issuer = DistinguishedName::from_der(fields.issuer)?;
        Ok(Self {
            common_name: subject.common_name().unwrap_or_default(),
            subject_dn: subject.to_string(),
            issuer_dn: issuer.to_string(),
            issuer_key: issuer_key(fields.issuer, fields.authority_key_identifier()),
            serial_number: serial_number(fields.serial_number),
            subject_alt_names: fields.each(oid::SUBJECT_ALT_NAME, SubjectAltName::show_all),
            not_before: fields.not_before,
            not_after: fields.not_after,
            is_ca: fields.extension(oid::BASIC_CONSTRAINTS).any(|v| is_ca(v) == Some(true)),
            thumbprint: hexadecimal::encode(Sha1::digest(der)),
            ms_template_name: algorithms::ms_template_name(
                fields.extension(oid::MS_TEMPLATE_NAME).next(),
                fields.extension(oid::MS_TEMPLATE).next(),
            ),
        })
    }
}

/// What stands for an issuer in the store: its name and its key together, so that a CA that was
/// made again under the same name is another one.
pub fn issuer_key(issuer: &[u8], authority_key_identifier: Option<&[u8]>) -> String {
    let both = [issuer, authority_key_identifier.unwrap_or_default()].concat();
    hexadecimal::encode(digest(&SHA256, &both))
}

/// A serial number as people compare it.
pub fn serial_number(content: &[u8]) -> String {
    let zeros = content.iter().take_while(|octet| **octet == 0).count();
    match content.get(zeros..) {
        Some(number) if !number.is_empty() => hexadecimal::encode(number),
        _ => "00".to_owned(),
    }
}

fn is_ca(value: &[u8]) -> Option<bool> {
    let parts = Tlv::read(value).ok()?.children().ok()?;
    let flag = parts.first().filter(|part| part.tag == Tag::Boolean);
    Some(flag.is_some_and(|flag| flag.content.iter().any(|octet| *octet != 0)))
}
