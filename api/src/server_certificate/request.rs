//! A key pair of the service's own, and the CSR that asks for its certificate.

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use der::asn1::{Any, BitString, ObjectIdentifier, SetOfVec};
use der::{Decode as _, Encode as _};
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use x509_cert::attr::Attribute;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::{Extension, Extensions};
use x509_cert::request::{CertReq, CertReqInfo, Version};

use crate::name::{DistinguishedName, dn_text};

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
    #[error("the crypto library made no key or signature")]
    Crypto(#[from] aws_lc_rs::error::Unspecified),
    #[error("the request can't be written as DER")]
    Der(#[from] der::Error),
    #[error("a name of the service is not accepted")]
    Name(#[from] crate::name::subject_alt_name::SubjectAltNameProblem),
    #[error("the subject is not accepted")]
    Subject(#[from] crate::name::dn_text::DnTextError),
}

const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const EXTENSION_REQUEST: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.9.14");
const SUBJECT_ALT_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.29.17");

/// Makes a P-256 key and a CSR for these names (`TYPE:value`), the first DNS name as CN.
pub(super) fn make(names: &[String]) -> Result<Made, RequestError> {
    let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING)?;
    let subject: DistinguishedName = dn_text::parse("CN=localhost")?;
    let parsed = names.iter().map(|name| crate::name::SubjectAltName::parse(name));
    let parsed = parsed.collect::<Result<Vec<_>, _>>()?;
    let alternative = crate::name::SubjectAltName::all_to_der(&parsed)?;
    let extensions: Extensions = vec![Extension {
        extn_id: SUBJECT_ALT_NAME,
        critical: false,
        extn_value: der::asn1::OctetString::new(alternative)?,
    }];
    // Reading it back is what a CSR's reader does first.
    SubjectAltName::from_der(extensions.first().map_or(&[], |e| e.extn_value.as_bytes()))?;
    let attribute = Attribute {
        oid: EXTENSION_REQUEST,
        values: SetOfVec::try_from(vec![Any::encode_from(&extensions)?])?,
    };
    let info = CertReqInfo {
        version: Version::V1,
        subject: x509_cert::name::Name::from_der(subject.der())?,
        public_key: SubjectPublicKeyInfoOwned {
            algorithm: AlgorithmIdentifierOwned {
                oid: EC_PUBLIC_KEY,
                parameters: Some(Any::encode_from(&P256)?),
            },
            subject_public_key: BitString::from_bytes(pair.public_key().as_ref())?,
        },
        attributes: SetOfVec::try_from(vec![attribute])?,
    };
    let signature = pair.sign(&SystemRandom::new(), &info.to_der()?)?;
    let algorithm = SignatureAlgorithm::EcdsaSha256.algorithm_identifier();
    let request = CertReq {
        info,
        algorithm: AlgorithmIdentifierOwned::from_der(algorithm)?,
        signature: BitString::from_bytes(signature.as_ref())?,
    };
    let key = pair.to_pkcs8v1()?.as_ref().to_vec();
    Ok(Made { csr: request.to_der()?, key })
}
