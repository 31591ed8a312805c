//! A TBSCertificate (RFC 5280, section 4.1), read strictly and kept as the bytes it came in.

use chancery_shared::wire::MAX_DER;
use der::asn1::{AnyRef, GeneralizedTime, ObjectIdentifier, OctetStringRef, UtcTime};
use der::{Decode as _, Encode as _, Reader as _, SliceReader, Tag, TagNumber, Tagged as _};
use time::OffsetDateTime;
use x509_cert::certificate::{Raw, TbsCertificateInner};

use super::strict;
use super::violation::PolicyViolation;

/// The parts of a TBSCertificate, each the exact DER of the original where it is bytes.
#[derive(Debug)]
pub(super) struct Tbs<'a> {
    /// AlgorithmIdentifier.
    pub(super) signature_algorithm: &'a [u8],
    /// Name.
    pub(super) issuer: &'a [u8],
    pub(super) not_before: Time,
    pub(super) not_after: Time,
    /// Name.
    pub(super) subject: &'a [u8],
    /// SubjectPublicKeyInfo.
    pub(super) spki: &'a [u8],
    /// Whether issuerUniqueID or subjectUniqueID is there.
    pub(super) has_unique_ids: bool,
    /// In their order; no type twice.
    pub(super) extensions: Vec<Extension<'a>>,
}

/// A point in time and how it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Time {
    pub(super) at: OffsetDateTime,
    pub(super) is_utc_time: bool,
}

/// One extension, its value not read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extension<'a> {
    pub(super) oid: ObjectIdentifier,
    pub(super) critical: bool,
    /// Content of the OCTET STRING.
    pub(super) value: &'a [u8],
}

impl<'a> Tbs<'a> {
    /// Reads `der`, all of it: canonical, version 3, no extension twice.
    pub(super) fn read(der: &'a [u8]) -> Result<Self, PolicyViolation> {
        if der.len() > MAX_DER {
            return Err(PolicyViolation::TooLong(der.len()));
        }
        let content = one_sequence(der)?;
        strict::walk(der).map_err(not_der)?;
        // A second reader with a mind of its own, and the encoding of what it understood. The
        // version comes first, so that a v1 certificate is told what is wrong with it.
        let anew = TbsCertificateInner::<Raw>::from_der(der).map_err(not_der)?;
        if anew.version() != x509_cert::Version::V3 {
            return Err(PolicyViolation::NotVersion3);
        }
        if anew.to_der().map_err(not_der)? != der {
            return Err(PolicyViolation::NotCanonical);
        }
        let tbs = Self::fields(content).map_err(not_der)?;
        if let Some(oid) = strict::first_repeated(tbs.extensions.iter().map(|e| e.oid)) {
            return Err(PolicyViolation::DuplicateExtension(oid));
        }
        for extension in &tbs.extensions {
            // RFC 5280, section 4.2: the octets are the DER of a value, known type or not.
            strict::walk(extension.value)
                .map_err(|_| PolicyViolation::ExtensionMalformed(extension.oid))?;
        }
        Ok(tbs)
    }

    fn fields(content: &'a [u8]) -> der::Result<Self> {
        let mut reader = SliceReader::new(content)?;
        let _version = reader.tlv_bytes()?;
        let _serial = reader.tlv_bytes()?;
        let signature_algorithm = reader.tlv_bytes()?;
        let issuer = reader.tlv_bytes()?;
        let (not_before, not_after) = validity(reader.tlv_bytes()?)?;
        let subject = reader.tlv_bytes()?;
        let spki = reader.tlv_bytes()?;
        let (mut has_unique_ids, mut extensions) = (false, Vec::new());
        while !reader.is_finished() {
            let field = AnyRef::decode(&mut reader)?;
            match field.tag() {
                Tag::ContextSpecific { number: TagNumber(3), constructed: true } => {
                    extensions = read_extensions(field.value())?;
                }
                _ => has_unique_ids = true,
            }
        }
        Ok(Self {
            signature_algorithm,
            issuer,
            not_before,
            not_after,
            subject,
            spki,
            has_unique_ids,
            extensions,
        })
    }

    /// The extension of this type, where it is there.
    pub(super) fn extension(&self, oid: ObjectIdentifier) -> Option<Extension<'a>> {
        self.extensions.iter().find(|extension| extension.oid == oid).copied()
    }

    /// Reads the extension of this type, where it is there.
    pub(super) fn read_extension<T>(
        &self,
        oid: ObjectIdentifier,
    ) -> Result<Option<T>, PolicyViolation>
    where
        T: der::Decode<'a, Error = der::Error> + der::Encode,
    {
        self.extension(oid).map(|extension| extension.read()).transpose()
    }
}

impl<'a> Extension<'a> {
    /// Reads the value as a `T` and nothing else.
    pub(super) fn read<T>(&self) -> Result<T, PolicyViolation>
    where
        T: der::Decode<'a, Error = der::Error> + der::Encode,
    {
        strict::exactly(self.value).map_err(|_| PolicyViolation::ExtensionMalformed(self.oid))
    }
}

/// The content of the one SEQUENCE that `der` is.
pub(super) fn one_sequence(der: &[u8]) -> Result<&[u8], PolicyViolation> {
    let mut reader = SliceReader::new(der).map_err(not_der)?;
    let any = AnyRef::decode(&mut reader).map_err(not_der)?;
    any.tag().assert_eq(Tag::Sequence).map_err(not_der)?;
    if reader.is_finished() { Ok(any.value()) } else { Err(PolicyViolation::TrailingBytes) }
}

fn not_der(error: der::Error) -> PolicyViolation {
    PolicyViolation::NotDer(error)
}

fn validity(der: &[u8]) -> der::Result<(Time, Time)> {
    AnyRef::from_der(der)?.sequence(|reader| Ok((time(reader)?, time(reader)?)))
}

fn time<'a>(reader: &mut SliceReader<'a>) -> der::Result<Time> {
    let any: AnyRef<'a> = reader.decode()?;
    let is_utc_time = any.tag() == Tag::UtcTime;
    let since_epoch = if is_utc_time {
        any.decode_as::<UtcTime>()?.to_unix_duration()
    } else {
        any.decode_as::<GeneralizedTime>()?.to_unix_duration()
    };
    let at = i64::try_from(since_epoch.as_secs())
        .ok()
        .and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok())
        .ok_or_else(|| any.tag().value_error())?;
    Ok(Time { at, is_utc_time })
}

fn read_extensions(field: &[u8]) -> der::Result<Vec<Extension<'_>>> {
    let list = AnyRef::from_der(field)?;
    list.tag().assert_eq(Tag::Sequence)?;
    let mut reader = SliceReader::new(list.value())?;
    let mut extensions = Vec::new();
    while !reader.is_finished() {
        extensions.push(reader.sequence(|reader| {
            let oid = ObjectIdentifier::decode(reader)?;
            let critical =
                if Tag::peek(reader)? == Tag::Boolean { bool::decode(reader)? } else { false };
            let value = <&OctetStringRef>::decode(reader)?.as_bytes();
            Ok::<_, der::Error>(Extension { oid, critical, value })
        })?);
    }
    // RFC 5280, section 4.1: SIZE (1..MAX).
    if extensions.is_empty() { Err(Tag::Sequence.length_error().into()) } else { Ok(extensions) }
}
