//! Drafts of CA certificates: a CA's own, and one below another CA.

use chancery_shared::bytes::SerialNonce;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use time::{Duration, OffsetDateTime};

use super::extensions::Extensions;
use super::issuing_ca::IssuingCa;
use super::name_constraints::NameConstraints;
use super::tbs::{self, Draft, DraftError, Fields, Period};
use crate::certificate::{CertificatePolicy, KeyUsage};
use crate::name::DistinguishedName;

/// How far notBefore of a CA certificate lies in the past, so that the certificates below it can
/// begin in the past too.
pub(crate) const BACKDATE: Duration = Duration::minutes(5);

/// The CA that is certified.
#[derive(Clone, Copy, Debug)]
pub struct CaSubject<'a> {
    /// Its name; never empty.
    pub name: &'a DistinguishedName,
    /// DER of its SubjectPublicKeyInfo.
    pub spki: &'a [u8],
    /// From notBefore to notAfter.
    pub lifetime_in_days: u32,
    /// How many CAs may stand below it; `None`: any number.
    pub path_length: Option<u8>,
    /// Which names it may certify; `None`: any.
    pub name_constraints: Option<&'a NameConstraints>,
    /// Under which policies it certifies.
    pub policies: &'a [CertificatePolicy],
}

/// Drafts the certificate that a CA signs for itself.
///
/// # Errors
///
/// Its validity would not fit into a certificate.
pub fn draft_own(
    subject: &CaSubject<'_>,
    signature_algorithm: SignatureAlgorithm,
    nonce: SerialNonce,
    now: OffsetDateTime,
) -> Result<Draft, DraftError> {
    let lifetime = Duration::days(subject.lifetime_in_days.into());
    let mut extensions = Extensions::default();
    add_ca_extensions(&mut extensions, subject)?;
    let fields = Fields {
        signature_algorithm,
        issuer: subject.name.der(),
        validity: Period::new(now, BACKDATE, lifetime, None)?,
        subject: subject.name.der(),
        spki: subject.spki,
        extensions: extensions.into_vec(),
    };
    tbs::lay_out(&fields, nonce)
}

/// Drafts the certificate of a CA below `issuer`. Its end is cut to the issuer's own.
///
/// # Errors
///
/// The issuer has expired.
pub fn draft_subordinate(
    subject: &CaSubject<'_>,
    issuer: &IssuingCa,
    nonce: SerialNonce,
    now: OffsetDateTime,
) -> Result<Draft, DraftError> {
    let lifetime = Duration::days(subject.lifetime_in_days.into());
    let mut extensions = Extensions::default();
    extensions.authority_key_identifier(&issuer.key_identifier)?;
    add_ca_extensions(&mut extensions, subject)?;
    extensions.pointers(&issuer.pointers)?;
    let fields = Fields {
        signature_algorithm: issuer.signature_algorithm,
        issuer: &issuer.subject,
        validity: Period::new(now, BACKDATE, lifetime, Some(issuer.validity))?,
        subject: subject.name.der(),
        spki: subject.spki,
        extensions: extensions.into_vec(),
    };
    tbs::lay_out(&fields, nonce)
}

fn add_ca_extensions(extensions: &mut Extensions, subject: &CaSubject<'_>) -> der::Result<()> {
    extensions.subject_key_identifier(subject.spki)?;
    extensions.basic_constraints(subject.path_length)?;
    extensions.key_usage(&[KeyUsage::CertificateSign, KeyUsage::CrlSign])?;
    if let Some(constraints) = subject.name_constraints {
        constraints.add_to(extensions)?;
    }
    extensions.policies(subject.policies)
}
