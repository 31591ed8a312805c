//! A key pair of the service's own, and the CSR that asks for its certificate.

use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};

use crate::key_pair::{CsrError, KeyPair};
use crate::name::{DistinguishedName, SubjectAltName, dn_text};

/// A fresh key with its CSR.
pub(super) struct Made {
    /// DER of the CertificationRequest.
    pub(super) csr: Vec<u8>,
    /// PKCS#8.
    pub(super) key: Vec<u8>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(super) enum RequestError {
    #[error("the crypto library made no key")]
    Key(#[from] aws_lc_rs::error::Unspecified),
    #[error("there is no request")]
    Csr(#[from] CsrError),
    #[error("a name of the service is not accepted")]
    Name(#[from] crate::name::subject_alt_name::SubjectAltNameProblem),
    #[error("the subject is not accepted")]
    Subject(#[from] crate::name::dn_text::DnTextError),
}

/// Makes a P-256 key and a CSR for these names (`TYPE:value`).
pub(super) fn make(names: &[String]) -> Result<Made, RequestError> {
    let pair = KeyPair::generate(KeyAlgorithm::EcdsaP256)?;
    let subject: DistinguishedName = dn_text::parse("CN=localhost")?;
    let parsed = names.iter().map(|name| SubjectAltName::parse(name));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let csr = pair.csr(&subject, &parsed, SignatureAlgorithm::EcdsaSha256)?;
    Ok(Made { csr, key: pair.to_pkcs8()?.to_vec() })
}
