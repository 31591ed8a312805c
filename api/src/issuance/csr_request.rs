//! A certification request: what it asks, byte for byte.

use chancery_shared::csr::{Csr, CsrError};
use chancery_shared::signature::SignatureError;
use der::Decode as _;
use der::asn1::ObjectIdentifier;
use spki::AlgorithmIdentifierRef;

use super::requested_extensions::{AskedExtension, RequestedExtensions, RequestedExtensionsError};
use super::subject_key::{SubjectKeyError, SubjectKeyKind};
use crate::name::string_types::{self, Corrected};
use crate::name::subject_rules::{self, NameProblem};
use crate::name::{DistinguishedName, SubjectAltName};

/// A request whose names and key may stand in a certificate. Whether a profile lets them is another
/// question, and so is whether its maker holds the key: the signer verifies that before it signs,
/// and nothing else relies on it, so it is not verified twice for each certificate.
#[derive(Clone, Debug)]
pub struct ParsedCsr {
    der: Vec<u8>,
    subject: DistinguishedName,
    corrected: Vec<Corrected>,
    spki: Vec<u8>,
    key: SubjectKeyKind,
    extensions: RequestedExtensions,
}

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsrRequestError {
    /// Not a CertificationRequest in DER.
    #[error("the csr is no certificate request: {0}")]
    Csr(CsrError),
    /// The subject may not stand in a certificate.
    #[error("the subject of the csr is not accepted: {0}")]
    Subject(NameProblem),
    /// The key is not certified here.
    #[error("the key of the csr is not accepted: {0}")]
    Key(SubjectKeyError),
    /// A signature with a broken hash.
    #[error("the csr is signed with {0}, which is not accepted; sign it with SHA-256 or better")]
    WeakSignature(&'static str),
    /// The signature of the request does not prove possession of the key.
    #[error("the csr does not prove possession of its key: {0}")]
    Possession(SignatureError),
    /// The extensions asked for.
    #[error("the csr is not accepted: {0}")]
    Extensions(RequestedExtensionsError),
}

/// Signature algorithms with hashes that collide, by the names that people know.
const WEAK: [(ObjectIdentifier, &str); 6] = [
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.2"), "MD2"),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.4"), "MD5"),
    (ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.5"), "SHA-1"),
    (ObjectIdentifier::new_unwrap("1.3.14.3.2.29"), "SHA-1"),
    (ObjectIdentifier::new_unwrap("1.2.840.10045.4.1"), "SHA-1"),
    (ObjectIdentifier::new_unwrap("1.2.840.10040.4.3"), "SHA-1"),
];

impl ParsedCsr {
    /// Reads the DER of a request and checks all that needs no profile.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong.
    pub fn read(der: Vec<u8>) -> Result<Self, CsrRequestError> {
        let csr = Csr::from_der(&der).map_err(CsrRequestError::Csr)?;
        let key = SubjectKeyKind::read(csr.spki).map_err(CsrRequestError::Key)?;
        if let Some(hash) = weak_hash(csr.algorithm) {
            return Err(CsrRequestError::WeakSignature(hash));
        }
        let (subject, corrected) = DistinguishedName::from_der(csr.subject)
            .and_then(|subject| string_types::correct(&subject))
            .map_err(|error| CsrRequestError::Subject(NameProblem::NotDer(error)))?;
        subject_rules::check(&subject).map_err(CsrRequestError::Subject)?;
        let extensions =
            RequestedExtensions::read(csr.attributes).map_err(CsrRequestError::Extensions)?;
        let spki = csr.spki.to_vec();
        Ok(Self { der, subject, corrected, spki, key, extensions })
    }

    /// Verifies that whoever made the request holds the private key.
    ///
    /// # Errors
    ///
    /// Says whether key, algorithm or signature is at fault.
    pub fn verify_possession(&self) -> Result<(), CsrRequestError> {
        let csr = Csr::from_der(&self.der).map_err(CsrRequestError::Csr)?;
        csr.verify_possession().map_err(CsrRequestError::Possession)
    }

    /// The request itself.
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// Its subject; may be empty. Byte for byte but for [`Self::corrected`].
    pub fn subject(&self) -> &DistinguishedName {
        &self.subject
    }

    /// The values of the subject whose string type was put right.
    pub fn corrected(&self) -> &[Corrected] {
        &self.corrected
    }

    /// DER of the SubjectPublicKeyInfo whose private key the requester holds.
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// What kind of key that is.
    pub fn key(&self) -> SubjectKeyKind {
        self.key
    }

    /// The subject alternative names that it asks for, in order.
    pub fn subject_alt_names(&self) -> &[SubjectAltName] {
        &self.extensions.subject_alt_names
    }

    /// The other extensions that it asks for, in order.
    pub fn asked_extensions(&self) -> &[AskedExtension] {
        &self.extensions.others
    }

    /// The types of its attributes that ask for no extensions and are passed over, in order.
    pub fn passed_over(&self) -> &[ObjectIdentifier] {
        &self.extensions.passed_over
    }
}

fn weak_hash(algorithm: &[u8]) -> Option<&'static str> {
    let oid = AlgorithmIdentifierRef::from_der(algorithm).ok()?.oid;
    WEAK.iter().find(|(weak, _)| *weak == oid).map(|(_, hash)| *hash)
}

#[cfg(test)]
mod tests;
