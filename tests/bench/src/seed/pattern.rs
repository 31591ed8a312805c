//! A certificate that a home has really issued, and others made after it.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use chancery_api::certificate::RecordedFacts;
use chancery_api::issuance::context::IssuanceContext;
use chancery_shared::bytes::{Bytes, Fixed, SerialNonce};
use chancery_shared::certificate::assemble;
use chancery_shared::id::Id;
use chancery_shared::wire::journal::{Event, Intent};
use chancery_signer::journal::entries;
use chancery_signer::policy::serial_number;
use chancery_tests::forge::at;
use chancery_tests::forge::der::{context, oid, sequence, tlv};
use chancery_tests::forge::oids::SUBJECT_ALT_NAME;
use der::{Decode as _, Reader as _, SliceReader, asn1::AnyRef};
use time::{Duration, OffsetDateTime};

use super::names::Names;

/// What all certificates after one pattern share.
#[derive(Debug)]
pub(super) struct Pattern {
    intent: Intent,
    context: IssuanceContext,
    signature: Bytes,
    /// How long before the request its validity began.
    backdated: Duration,
    fields: Fields,
}

/// DER of the parts of its TBSCertificate that stay.
#[derive(Debug)]
struct Fields {
    version: Vec<u8>,
    algorithm: Vec<u8>,
    issuer: Vec<u8>,
    spki: Vec<u8>,
    extensions: Vec<Vec<u8>>,
}

/// One that is to be.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) intent: Intent,
    pub(super) context: IssuanceContext,
    pub(super) serial_number: String,
    pub(super) signature: Bytes,
}

/// The first certificates that the home's issuers have signed.
pub(super) fn read(journal: &Path) -> anyhow::Result<Vec<Pattern>> {
    let mut open = BTreeMap::new();
    let mut patterns = Vec::new();
    for entry in entries(journal, 0) {
        let entry = entry?;
        match entry.event {
            Event::Intent(intent) if intent.operation == "sign-certificate" => {
                open.insert(entry.seq, intent);
            }
            Event::Signed { intent: seq, signature, .. } => {
                if let Some(intent) = open.remove(&seq) {
                    patterns.extend(Pattern::new(*intent, signature)?);
                }
            }
            _ => {}
        }
        if patterns.len() == MAX_PATTERNS {
            break;
        }
    }
    ensure!(!patterns.is_empty(), "no issuer of this home has issued a certificate for a CSR yet");
    Ok(patterns)
}

impl Pattern {
    /// `None` for what no user has asked an issuer for, such as the service's own certificate.
    fn new(intent: Intent, signature: Bytes) -> anyhow::Result<Option<Self>> {
        let context = IssuanceContext::from_wire(&intent.context)?;
        let is_own = context.request_id.starts_with("https-");
        if is_own || context.cert_issuer_id.is_none() || context.csr_id.is_none() {
            return Ok(None);
        }
        let certificate = assemble(intent.tbs.as_slice(), signature.as_slice())?;
        let backdated = context.requested_at - RecordedFacts::read(&certificate)?.not_before;
        let fields = Fields::read(intent.tbs.as_slice())?;
        Ok(Some(Self { intent, context, signature, backdated, fields }))
    }

    /// Another one: requested at that moment for so many days, with names of its own.
    pub(super) fn draft(
        &self,
        number: u64,
        requested_at: OffsetDateTime,
        lifetime: Duration,
    ) -> anyhow::Result<Draft> {
        let mut random = [0; 58];
        aws_lc_rs::rand::fill(&mut random)?;
        let (nonce, ids) = random.split_first_chunk().context("40 bytes")?;
        let mut ids = ids.as_chunks().0.iter().copied();
        let mut id = || ids.next().context("6 bytes");
        let context = IssuanceContext {
            request_id: format!("seeded-{number}"),
            requested_at,
            certificate_id: Id::new(requested_at, id()?),
            csr_id: Some(Id::new(requested_at, id()?)),
            history_id: Id::new(requested_at, id()?),
            ..self.context.clone()
        };
        let nonce = Fixed(*nonce);
        let not_before = requested_at - self.backdated;
        let validity = sequence(&[at(not_before), at(not_before + lifetime)]);
        let (tbs, serial) = self.fields.tbs(&validity, &Names::of(number), &nonce)?;
        let intent = Intent {
            tbs: Bytes(tbs),
            serial_nonce: nonce,
            context: context.to_wire()?,
            ..self.intent.clone()
        };
        let serial_number = hex::encode(serial);
        Ok(Draft { intent, context, serial_number, signature: self.signature.clone() })
    }
}

impl Fields {
    /// RFC 5280, section 4.1.
    fn read(tbs: &[u8]) -> anyhow::Result<Self> {
        let mut reader = SliceReader::new(AnyRef::from_der(tbs)?.value())?;
        let mut next = || anyhow::Ok(reader.tlv_bytes()?.to_vec());
        let (version, _serial, algorithm, issuer) = (next()?, next()?, next()?, next()?);
        let (_validity, _subject, spki) = (next()?, next()?, next()?);
        let extensions = next()?;
        let extensions = AnyRef::from_der(AnyRef::from_der(&extensions)?.value())?;
        let mut reader = SliceReader::new(extensions.value())?;
        let mut extensions = Vec::new();
        while !reader.is_finished() {
            extensions.push(reader.tlv_bytes()?.to_vec());
        }
        Ok(Self { version, algorithm, issuer, spki, extensions })
    }

    /// The whole, and its serial number by the signer's construction.
    fn tbs(
        &self,
        validity: &[u8],
        names: &Names,
        nonce: &SerialNonce,
    ) -> anyhow::Result<(Vec<u8>, [u8; 20])> {
        let alt_name = oid(SUBJECT_ALT_NAME);
        let extensions = self.extensions.iter().map(|extension| {
            let is_alt_name = AnyRef::from_der(extension)?.value().starts_with(&alt_name);
            Ok(if is_alt_name { names.extension() } else { extension.clone() })
        });
        let extensions = extensions.collect::<anyhow::Result<Vec<_>>>()?;
        let with = |serial: &[u8; 20]| {
            sequence(&[
                self.version.clone(),
                tlv(2, serial),
                self.algorithm.clone(),
                self.issuer.clone(),
                validity.to_vec(),
                names.subject(),
                self.spki.clone(),
                context(3, &[sequence(&extensions)]),
            ])
        };
        let serial = serial_number(nonce, &with(&[0x40; 20]))?;
        Ok((with(&serial), serial))
    }
}

const MAX_PATTERNS: usize = 64;
