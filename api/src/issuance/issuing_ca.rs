//! What drafting needs to know of the CA that will sign.

use chancery_shared::wire::algorithm::SignatureAlgorithm;

use super::extensions::{self, Pointers};
use super::tbs::Period;
use crate::certificate::fields::{CertificateFields, NotACertificate};

/// The CA of a draft, read from its certificate.
#[derive(Clone, Debug)]
pub struct IssuingCa {
    /// DER of its subject.
    pub(crate) subject: Vec<u8>,
    pub(crate) key_identifier: Vec<u8>,
    pub(crate) validity: Period,
    pub(crate) signature_algorithm: SignatureAlgorithm,
    pub(crate) pointers: Pointers,
}

impl IssuingCa {
    /// Reads the CA's own certificate. `signature_algorithm` is its key's, `pointers` are what
    /// its certificates tell clients.
    ///
    /// # Errors
    ///
    /// The bytes are no certificate.
    pub fn new(
        certificate: &[u8],
        signature_algorithm: SignatureAlgorithm,
        pointers: Pointers,
    ) -> Result<Self, NotACertificate> {
        let fields = CertificateFields::read(certificate)?;
        let key_identifier = match fields.subject_key_identifier() {
            Some(identifier) => identifier.to_vec(),
            None => extensions::key_identifier(fields.spki)?,
        };
        let validity = Period { not_before: fields.not_before, not_after: fields.not_after };
        let subject = fields.subject.to_vec();
        Ok(Self { subject, key_identifier, validity, signature_algorithm, pointers })
    }
}
