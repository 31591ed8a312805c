//! A TBS that policy has agreed to, as a type.

use chancery_shared::bytes::SerialNonce;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::SignatureAlgorithm;

use super::tbs::Tbs;
use super::{Draft, IssuingKey};

/// A to-be-signed certificate that obeys every rule of its key's policy.
///
/// It keeps the exact DER that was checked, so what was read is what gets signed. It is neither
/// `Clone` nor constructible elsewhere: one check yields at most one signature.
///
/// ```compile_fail
/// fn forge(real: chancery_signer::policy::CheckedTbs) { chancery_signer::policy::CheckedTbs { der: vec![], ..real }; }
/// ```
#[derive(Debug)]
pub struct CheckedTbs {
    der: Vec<u8>,
    spki: Vec<u8>,
    csr: Option<Vec<u8>>,
    key_id: KeyId,
    signature_algorithm: SignatureAlgorithm,
    serial_number: [u8; 20],
    nonce: SerialNonce,
    operation: &'static str,
}

impl CheckedTbs {
    /// For the stories alone, each at its very end.
    pub(super) fn after_all_checks(
        operation: &'static str,
        key: &IssuingKey<'_>,
        draft: &Draft<'_>,
        tbs: &Tbs<'_>,
        serial_number: [u8; 20],
    ) -> Self {
        Self {
            der: draft.tbs.to_vec(),
            spki: tbs.spki.to_vec(),
            csr: draft.csr.map(<[u8]>::to_vec),
            key_id: key.key_id,
            signature_algorithm: key.signature_algorithm,
            serial_number,
            nonce: draft.nonce.nonce(),
            operation,
        }
    }

    /// The TBSCertificate's exact DER.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// The TBSCertificate's exact DER, for its one signature.
    #[must_use]
    pub fn into_der(self) -> Vec<u8> {
        self.der
    }

    /// DER of the certified SubjectPublicKeyInfo.
    #[must_use]
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// DER of the CSR that proved possession; absent where the certified key is the signer's own.
    #[must_use]
    pub fn csr(&self) -> Option<&[u8]> {
        self.csr.as_deref()
    }

    /// The only key that may sign it.
    #[must_use]
    pub fn key_id(&self) -> KeyId {
        self.key_id
    }

    /// The algorithm that the TBS names, which is the key's.
    #[must_use]
    pub fn signature_algorithm(&self) -> SignatureAlgorithm {
        self.signature_algorithm
    }

    /// The serial number's 20 octets.
    #[must_use]
    pub fn serial_number(&self) -> [u8; 20] {
        self.serial_number
    }

    /// What the serial was made from.
    #[must_use]
    pub fn nonce(&self) -> SerialNonce {
        self.nonce
    }

    /// Name of the operation that it was checked for.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.operation
    }
}
