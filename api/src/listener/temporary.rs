//! A self-signed certificate for the time until the service has its own.

use std::str::FromStr as _;
use std::time::Duration;

use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use const_oid::db::rfc5912::ECDSA_WITH_SHA_256;
use der::asn1::{AnyRef, BitString, GeneralizedTime, Ia5String};
use der::{Decode as _, Encode as _, Sequence};
use spki::{AlgorithmIdentifierOwned, SubjectPublicKeyInfoOwned};
use time::OffsetDateTime;
use x509_cert::ext::pkix::SubjectAltName;
use x509_cert::ext::pkix::name::GeneralName;
use x509_cert::ext::{Extension, Extensions, ToExtension as _};
use x509_cert::name::Name;
use x509_cert::serial_number::SerialNumber;
use x509_cert::time::{Time, Validity};

use crate::random::Random;

/// A certificate and its key, both DER.
pub(super) struct Temporary {
    pub(super) certificate: Vec<u8>,
    pub(super) key: Vec<u8>,
}

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub enum TemporaryError {
    /// The crypto backend made no key or signature.
    #[error("the crypto backend made no key")]
    Key(#[source] aws_lc_rs::error::Unspecified),
    /// A part of it can't be encoded.
    #[error("the certificate can't be encoded")]
    Encoding(#[from] der::Error),
}

/// The fields in the order of RFC 5280, section 4.1.
#[derive(Sequence)]
struct Tbs {
    #[asn1(context_specific = "0", tag_mode = "EXPLICIT")]
    version: u8,
    serial_number: SerialNumber,
    signature: AlgorithmIdentifierOwned,
    issuer: Name,
    validity: Validity,
    subject: Name,
    subject_public_key_info: SubjectPublicKeyInfoOwned,
    #[asn1(context_specific = "3", tag_mode = "EXPLICIT", optional = "true")]
    extensions: Option<Extensions>,
}

#[derive(Sequence)]
struct Signed<'a> {
    tbs: AnyRef<'a>,
    algorithm: AlgorithmIdentifierOwned,
    signature: BitString,
}

pub(super) fn make(now: OffsetDateTime, random: &dyn Random) -> Result<Temporary, TemporaryError> {
    let key =
        EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).map_err(TemporaryError::Key)?;
    let public: PublicKeyX509Der<'_> = key.public_key().as_der().map_err(TemporaryError::Key)?;
    let private = key.to_pkcs8v1().map_err(TemporaryError::Key)?;
    let algorithm = AlgorithmIdentifierOwned { oid: ECDSA_WITH_SHA_256, parameters: None };
    let name = Name::from_str("CN=Chancery is not set up yet")?;
    let mut serial = [0; 16];
    random.fill(&mut serial);
    serial[0] = (serial[0] & 0x3f) | 0x40;
    let tbs = Tbs {
        version: 2,
        serial_number: SerialNumber::new(&serial)?,
        signature: algorithm.clone(),
        issuer: name.clone(),
        validity: Validity::new(moment(now - time::Duration::DAY)?, moment(now + VALID_FOR)?),
        subject: name.clone(),
        subject_public_key_info: SubjectPublicKeyInfoOwned::from_der(public.as_ref())?,
        extensions: Some(vec![alternative_name(&name)?]),
    };
    let tbs = tbs.to_der()?;
    let signature = key.sign(&SystemRandom::new(), &tbs).map_err(TemporaryError::Key)?;
    let signed = Signed {
        tbs: AnyRef::from_der(&tbs)?,
        algorithm,
        signature: BitString::from_bytes(signature.as_ref())?,
    };
    Ok(Temporary { certificate: signed.to_der()?, key: private.as_ref().to_vec() })
}

fn alternative_name(subject: &Name) -> Result<Extension, der::Error> {
    let localhost = GeneralName::DnsName(Ia5String::new("localhost")?);
    SubjectAltName(vec![localhost]).to_extension(subject, &[])
}

/// Always GeneralizedTime: nobody keeps this certificate for long enough to mind.
fn moment(at: OffsetDateTime) -> Result<Time, der::Error> {
    let since_epoch = u64::try_from(at.unix_timestamp()).unwrap_or(0);
    let time = GeneralizedTime::from_unix_duration(Duration::from_secs(since_epoch))?;
    Ok(Time::GeneralTime(time))
}

const VALID_FOR: time::Duration = time::Duration::days(30);
