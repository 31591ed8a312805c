//! TBSCertificates built byte by byte, right or wrong in any part: what a taken-over API would
//! send to the signer.
//!
//! It shares no code with the product on purpose.

pub mod der;
pub mod subject;

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use time::OffsetDateTime;
use time::macros::format_description;

use self::der::{boolean, context, integer, octets, oid, sequence, tlv};
use self::subject::SubjectKey;

/// The parts of a TBSCertificate, each ready DER that a test can replace.
#[derive(Clone, Debug)]
pub struct Forged {
    /// `[0]` version; empty for v1.
    pub version: Vec<u8>,
    /// AlgorithmIdentifier.
    pub algorithm: Vec<u8>,
    /// Issuer Name.
    pub issuer: Vec<u8>,
    /// notBefore, a Time.
    pub not_before: Vec<u8>,
    /// notAfter, a Time.
    pub not_after: Vec<u8>,
    /// Subject Name.
    pub subject: Vec<u8>,
    /// SubjectPublicKeyInfo.
    pub spki: Vec<u8>,
    /// What stands between the key and the extensions: unique ids, normally nothing.
    pub before_extensions: Vec<u8>,
    /// The extensions.
    pub extensions: Vec<Extension>,
    /// Bytes after the TBSCertificate.
    pub trailing: Vec<u8>,
    /// What is done to the serial after it was made by construction.
    pub serial: Serial,
}

/// One extension.
#[derive(Clone, Debug)]
pub struct Extension {
    /// Dotted object identifier.
    pub oid: &'static str,
    /// DER of the critical flag; empty for the default.
    pub critical: Vec<u8>,
    /// extnValue's content.
    pub value: Vec<u8>,
}

/// Which serial number stands in the TBS.
#[derive(Clone, Debug)]
pub enum Serial {
    /// The one that the nonce and the rest give.
    ByConstruction,
    /// This content of the INTEGER.
    Is(Vec<u8>),
}

/// The object identifiers that tests speak of.
pub mod oids {
    #![expect(missing_docs, reason = "the names are those of RFC 5280")]
    pub const SUBJECT_KEY_IDENTIFIER: &str = "2.5.29.14";
    pub const KEY_USAGE: &str = "2.5.29.15";
    pub const SUBJECT_ALT_NAME: &str = "2.5.29.17";
    pub const BASIC_CONSTRAINTS: &str = "2.5.29.19";
    pub const NAME_CONSTRAINTS: &str = "2.5.29.30";
    pub const AUTHORITY_KEY_IDENTIFIER: &str = "2.5.29.35";
    pub const EXT_KEY_USAGE: &str = "2.5.29.37";
    pub const SERVER_AUTH: &str = "1.3.6.1.5.5.7.3.1";
    pub const CODE_SIGNING: &str = "1.3.6.1.5.5.7.3.3";
    pub const OCSP_SIGNING: &str = "1.3.6.1.5.5.7.3.9";
    pub const ANY_EXTENDED_KEY_USAGE: &str = "2.5.29.37.0";
}

/// An extension that is critical.
#[must_use]
pub fn critical(oid: &'static str, value: Vec<u8>) -> Extension {
    Extension { oid, critical: boolean(true), value }
}

/// An extension that is not critical.
#[must_use]
pub fn plain(oid: &'static str, value: Vec<u8>) -> Extension {
    Extension { oid, critical: Vec::new(), value }
}

impl Forged {
    /// An ordinary end-entity TBS for `www.example.test`: it passes.
    #[must_use]
    pub fn ordinary(ca: &Issuer<'_>, key: &SubjectKey, now: OffsetDateTime) -> Self {
        Self {
            version: context(0, &[integer(&[2])]),
            algorithm: ca.algorithm.to_vec(),
            issuer: ca.subject.to_vec(),
            not_before: at(now - time::Duration::minutes(1)),
            not_after: at(now + time::Duration::days(90)),
            subject: subject::common_name("www.example.test"),
            spki: key.spki.clone(),
            before_extensions: Vec::new(),
            extensions: vec![
                plain(oids::AUTHORITY_KEY_IDENTIFIER, authority(ca.key_identifier)),
                plain(oids::SUBJECT_KEY_IDENTIFIER, octets(&key_identifier(&key.point))),
                critical(oids::KEY_USAGE, vec![3, 2, 7, 0x80]),
                plain(oids::EXT_KEY_USAGE, sequence(&[oid(oids::SERVER_AUTH)])),
                plain(oids::SUBJECT_ALT_NAME, sequence(&[dns("www.example.test")])),
            ],
            trailing: Vec::new(),
            serial: Serial::ByConstruction,
        }
    }

    /// Replaces the value of an extension.
    #[must_use]
    pub fn with(mut self, oid: &str, value: impl AsRef<[u8]>) -> Self {
        for extension in self.extensions.iter_mut().filter(|extension| extension.oid == oid) {
            extension.value = value.as_ref().to_vec();
        }
        self
    }

    /// Leaves an extension out.
    #[must_use]
    pub fn without(mut self, oid: &str) -> Self {
        self.extensions.retain(|extension| extension.oid != oid);
        self
    }

    /// Adds an extension at the end.
    #[must_use]
    pub fn and(mut self, extension: Extension) -> Self {
        self.extensions.push(extension);
        self
    }

    /// The DER, with the serial that `nonce` gives it or the one that was forged.
    #[must_use]
    pub fn der(&self, nonce: &[u8; 40]) -> Vec<u8> {
        let mut body = self.layout(&Serial::placeholder());
        let serial = match &self.serial {
            Serial::ByConstruction => {
                let hash = digest(&SHA256, &[nonce.as_slice(), &body].concat());
                let mut serial: Vec<u8> = hash.as_ref().iter().copied().take(20).collect();
                if let Some(first) = serial.first_mut() {
                    *first = *first & 0x3f | 0x40;
                }
                serial
            }
            Serial::Is(content) => content.clone(),
        };
        body = self.layout(&serial);
        body.extend(&self.trailing);
        body
    }

    fn layout(&self, serial: &[u8]) -> Vec<u8> {
        let extensions: Vec<Vec<u8>> = self
            .extensions
            .iter()
            .map(|e| sequence(&[oid(e.oid), e.critical.clone(), octets(&e.value)]))
            .collect();
        let extensions =
            if extensions.is_empty() { Vec::new() } else { context(3, &[sequence(&extensions)]) };
        sequence(&[
            self.version.clone(),
            tlv(2, serial),
            self.algorithm.clone(),
            self.issuer.clone(),
            sequence(&[self.not_before.clone(), self.not_after.clone()]),
            self.subject.clone(),
            self.spki.clone(),
            self.before_extensions.clone(),
            extensions,
        ])
    }
}

impl Serial {
    fn placeholder() -> Vec<u8> {
        let mut serial = vec![0; 20];
        if let Some(first) = serial.first_mut() {
            *first = 0x40;
        }
        serial
    }
}

/// What a TBS takes over from the CA.
#[derive(Clone, Copy, Debug)]
pub struct Issuer<'a> {
    /// DER of the CA's Name.
    pub subject: &'a [u8],
    /// Its subjectKeyIdentifier.
    pub key_identifier: &'a [u8],
    /// AlgorithmIdentifier of its signatures.
    pub algorithm: &'a [u8],
}

/// The Time of that moment: UTCTime until 2049.
#[must_use]
pub fn at(moment: OffsetDateTime) -> Vec<u8> {
    let utc = format_description!("[year repr:last_two][month][day][hour][minute][second]Z");
    let generalized = format_description!("[year][month][day][hour][minute][second]Z");
    if moment.year() < 2050 {
        tlv(0x17, moment.format(utc).unwrap_or_default().as_bytes())
    } else {
        tlv(0x18, moment.format(generalized).unwrap_or_default().as_bytes())
    }
}

/// AuthorityKeyIdentifier with a keyIdentifier alone.
#[must_use]
pub fn authority(key_identifier: &[u8]) -> Vec<u8> {
    sequence(&[tlv(0x80, key_identifier)])
}

/// A dNSName.
#[must_use]
pub fn dns(name: &str) -> Vec<u8> {
    tlv(0x82, name.as_bytes())
}

/// SHA-1 over the key's bits (RFC 5280, section 4.2.1.2).
#[must_use]
pub fn key_identifier(bits: &[u8]) -> Vec<u8> {
    digest(&SHA1_FOR_LEGACY_USE_ONLY, bits).as_ref().to_vec()
}
