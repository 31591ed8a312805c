//! The TBSCertificate: laid out field by field, with its serial number by construction.

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::bytes::SerialNonce;
use chancery_shared::wire::MAX_DER;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use der::{DateTime, Encode as _, Tag};
use time::OffsetDateTime;
use x509_cert::ext::Extension;
use x509_cert::time::{Time, Validity};

use crate::asn1::{self, context};
use crate::certificate::is_over;

/// The bytes that are to be signed. They don't change from here on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// DER of the TBSCertificate.
    pub tbs: Vec<u8>,
    /// From what its serial number was made.
    pub nonce: SerialNonce,
    /// notBefore.
    pub not_before: OffsetDateTime,
    /// notAfter: the last second of the certificate's life.
    pub not_after: OffsetDateTime,
}

/// Why there is no draft.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The CA's certificate ends before the new one would begin.
    #[error("the CA certificate has expired; nothing can be issued under it")]
    CaExpired,
    /// A date that certificates can't hold.
    #[error("the validity would lie outside the years 1970 to 9999")]
    Validity,
    /// Every usage of the profile is for another kind of key.
    #[error("none of the profile's key usages fits this kind of key")]
    NoKeyUsage,
    /// Over the wire's limit.
    #[error("the certificate would have more than {MAX_DER} bytes; ask for fewer names")]
    TooLarge,
    /// A value that DER can't hold.
    #[error("the certificate can't be written as DER ({0})")]
    NotDer(der::Error),
}

impl From<der::Error> for DraftError {
    fn from(error: der::Error) -> Self {
        Self::NotDer(error)
    }
}

/// Everything of a TBSCertificate but its serial number.
pub(crate) struct Fields<'a> {
    pub(crate) signature_algorithm: SignatureAlgorithm,
    /// DER of a Name.
    pub(crate) issuer: &'a [u8],
    pub(crate) validity: Period,
    /// DER of a Name.
    pub(crate) subject: &'a [u8],
    /// DER of a SubjectPublicKeyInfo.
    pub(crate) spki: &'a [u8],
    pub(crate) extensions: Vec<Extension>,
}

/// notBefore and notAfter, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) not_before: OffsetDateTime,
    pub(crate) not_after: OffsetDateTime,
}

impl Period {
    /// From `backdate` before now for `lifetime`, both ends inclusive (RFC 5280, section 4.1.2.5),
    /// and within the issuer's own life where there is an issuer.
    pub(crate) fn new(
        now: OffsetDateTime,
        backdate: time::Duration,
        lifetime: time::Duration,
        within: Option<Period>,
    ) -> Result<Self, DraftError> {
        let now = now.replace_nanosecond(0).map_err(|_| DraftError::Validity)?;
        let begins = now.checked_sub(backdate).ok_or(DraftError::Validity)?;
        let last = lifetime - time::Duration::SECOND;
        let ends = begins.checked_add(last).ok_or(DraftError::Validity)?;
        let Some(issuer) = within else {
            return Ok(Self { not_before: begins, not_after: ends });
        };
        let not_before = begins.max(issuer.not_before);
        let not_after = ends.min(issuer.not_after);
        if is_over(not_after, now) {
            Err(DraftError::CaExpired)
        } else {
            Ok(Self { not_before, not_after })
        }
    }

    /// UTCTime through 2049, GeneralizedTime from then on (RFC 5280, section 4.1.2.5).
    fn to_der(self) -> Result<Vec<u8>, DraftError> {
        let time = |at: OffsetDateTime| {
            let seconds = u64::try_from(at.unix_timestamp()).map_err(|_| DraftError::Validity)?;
            DateTime::from_unix_duration(std::time::Duration::from_secs(seconds))
                .map(Time::from)
                .map_err(|_| DraftError::Validity)
        };
        let validity: Validity = Validity::new(time(self.not_before)?, time(self.not_after)?);
        Ok(validity.to_der()?)
    }
}

const VERSION_3: &[u8] = &[0xa0, 0x03, 0x02, 0x01, 0x02];

/// Tag, length and the 20 octets that stand where the serial number will be while it is made.
const SERIAL_HEADER: [u8; 2] = [0x02, 0x14];
const SERIAL_LENGTH: usize = 20;

/// Lays the fields out and makes the serial number: the first 20 octets of SHA-256 over nonce and
/// TBS, the latter with `40 00 … 00` in its place, and the two top bits set to 01.
pub(crate) fn lay_out(fields: &Fields<'_>, nonce: SerialNonce) -> Result<Draft, DraftError> {
    let mut placeholder = [0; SERIAL_LENGTH];
    if let Some(first) = placeholder.first_mut() {
        *first = 0x40;
    }
    let mut tbs = encode(fields, &placeholder)?;
    if tbs.len() > MAX_DER {
        return Err(DraftError::TooLarge);
    }
    let hash = digest(&SHA256, &[&nonce.0[..], &tbs].concat());
    let content = asn1::Tlv::read(&tbs)?.content.len();
    let start = tbs.len() - content + VERSION_3.len() + SERIAL_HEADER.len();
    if let Some(serial) = tbs.get_mut(start..start + SERIAL_LENGTH) {
        serial.iter_mut().zip(hash.as_ref()).for_each(|(octet, hashed)| *octet = *hashed);
        serial.iter_mut().take(1).for_each(|octet| *octet = *octet & 0x3f | 0x40);
    }
    let Period { not_before, not_after } = fields.validity;
    Ok(Draft { tbs, nonce, not_before, not_after })
}

fn encode(fields: &Fields<'_>, serial: &[u8; SERIAL_LENGTH]) -> Result<Vec<u8>, DraftError> {
    let extensions = asn1::encode(context(3, true), &fields.extensions.to_der()?)?;
    Ok(asn1::sequence(&[
        VERSION_3,
        &asn1::encode(Tag::Integer, serial)?,
        fields.signature_algorithm.algorithm_identifier(),
        fields.issuer,
        &fields.validity.to_der()?,
        fields.subject,
        fields.spki,
        &extensions,
    ])?)
}

#[cfg(test)]
mod tests;
