//! What an import brings, taken apart: a certificate, and perhaps its CSR.

use chancery_shared::csr::Csr;
use spki::SubjectPublicKeyInfoRef;

use super::certificate_text;
use crate::certificate::RecordedFacts;
use crate::certificate::fields::{CertificateFields, NotACertificate};
use crate::error::{ApiError, Code};
use crate::issuance::csr_text;

/// A certificate with what it says.
#[derive(Clone, Debug)]
pub(super) struct Read {
    pub(super) der: Vec<u8>,
    pub(super) facts: RecordedFacts,
    pub(super) csr: Option<Vec<u8>>,
}

impl Read {
    /// Reads both texts.
    ///
    /// # Errors
    ///
    /// [`Code::InvalidRequest`] for the certificate, [`Code::BadCsr`] for a CSR that is none,
    /// [`Code::InvalidRequest`] for one of another key.
    pub(super) fn new(certificate: &str, csr: Option<&str>) -> Result<Self, ApiError> {
        let wrong = |message: String| ApiError::invalid_field("certData", message);
        let der = certificate_text::to_der(certificate).map_err(|no| wrong(no.to_string()))?;
        if der_length(&der).is_some_and(|length| length < der.len()) {
            return Err(wrong("has bytes behind the certificate; send it without them".to_owned()));
        }
        let unreadable =
            |no: NotACertificate| wrong(format!("can't be read: {no}; send an X.509 certificate"));
        let facts = RecordedFacts::read(&der).map_err(unreadable)?;
        let fields = CertificateFields::read(&der).map_err(unreadable)?;
        let serial = fields.serial_number.len();
        if serial > MAX_SERIAL {
            return Err(wrong(format!(
                "has a serial number of {serial} bytes; at most {MAX_SERIAL} are taken"
            )));
        }
        let csr = csr.map(|text| read_csr(text, fields.spki)).transpose()?;
        Ok(Self { der, facts, csr })
    }

    /// The parts of the certificate.
    pub(super) fn fields(&self) -> Result<CertificateFields<'_>, ApiError> {
        CertificateFields::read(&self.der).map_err(ApiError::internal)
    }
}

/// The request must be for the certified key; how it was signed is history.
fn read_csr(text: &str, spki: &[u8]) -> Result<Vec<u8>, ApiError> {
    let bad = |message: String| ApiError::refused_field(Code::BadCsr, "csrData", message);
    let der = csr_text::to_der(text.as_bytes()).map_err(|no| bad(no.to_string()))?;
    let asked = Csr::from_der(&der).map_err(|no| bad(format!("csrData: {no}")))?.spki;
    if !is_same_key(asked, spki) {
        let message = "is a request for another key than the certificate's; send the one for it";
        return Err(ApiError::invalid_field("csrData", message));
    }
    Ok(der)
}

/// Algorithm and key alone: clients differ in how they write the parameters of an algorithm that
/// has none.
fn is_same_key(one: &[u8], other: &[u8]) -> bool {
    let parts = |spki| {
        let info = <SubjectPublicKeyInfoRef<'_> as der::Decode<'_>>::from_der(spki).ok()?;
        Some((info.algorithm.oid, info.subject_public_key.raw_bytes().to_vec()))
    };
    one == other || parts(one).is_some_and(|one| Some(one) == parts(other))
}

/// How long the value at the begin of `der` says that it is, its header included.
fn der_length(der: &[u8]) -> Option<usize> {
    use der::{Decode as _, Header, SliceReader};
    let mut reader = SliceReader::new(der).ok()?;
    let header = Header::decode(&mut reader).ok()?;
    let before = usize::try_from(der::Reader::position(&reader)).ok()?;
    before.checked_add(usize::try_from(header.length()).ok()?)
}

/// RFC 5280 has 20; the databases index what is far longer, but not without end.
const MAX_SERIAL: usize = 512;
