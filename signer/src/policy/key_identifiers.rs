//! authorityKeyIdentifier and subjectKeyIdentifier: which keys a certificate speaks of.

use aws_lc_rs::digest::{SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};
use const_oid::db::rfc5280::{ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_SUBJECT_KEY_IDENTIFIER};
use der::Decode as _;
use der::asn1::OctetString;
use spki::SubjectPublicKeyInfoRef;
use x509_cert::ext::pkix::AuthorityKeyIdentifier;

use super::ca_certificate::CaCertificate;
use super::tbs::Tbs;
use super::violation::PolicyViolation;

/// Checks that the certificate names the CA's key the way that the CA certificate does.
pub(super) fn check_authority(
    tbs: &Tbs<'_>,
    issuer: &CaCertificate,
) -> Result<(), PolicyViolation> {
    let identifier = authority(tbs)?.ok_or(PolicyViolation::AuthorityKeyIdentifierAbsent)?;
    let is_issuers = match issuer.subject_key_identifier() {
        Some(expected) => identifier.as_bytes() == expected,
        // A CA certificate from outside may lack one; then the key itself decides.
        None => key_bits(issuer.spki()).is_some_and(|bits| is_of_key(identifier.as_bytes(), bits)),
    };
    if is_issuers { Ok(()) } else { Err(PolicyViolation::AuthorityKeyIdentifier) }
}

/// Checks that a self-signed certificate, where it names its issuer's key, names its own.
pub(super) fn check_own_authority(tbs: &Tbs<'_>, bits: &[u8]) -> Result<(), PolicyViolation> {
    let subject = subject(tbs)?;
    match authority(tbs)? {
        None => Ok(()),
        Some(authority) if subject.as_ref() == Some(&authority) => Ok(()),
        Some(authority) if subject.is_none() && is_of_key(authority.as_bytes(), bits) => Ok(()),
        Some(_) => Err(PolicyViolation::AuthorityKeyIdentifier),
    }
}

/// Checks that subjectKeyIdentifier, where it is there, is of the certified key.
pub(super) fn check_subject(tbs: &Tbs<'_>, bits: &[u8]) -> Result<(), PolicyViolation> {
    match subject(tbs)? {
        Some(identifier) if !is_of_key(identifier.as_bytes(), bits) => {
            Err(PolicyViolation::SubjectKeyIdentifier)
        }
        _ => Ok(()),
    }
}

/// The subjectKeyIdentifier, where it is there.
pub(super) fn subject(tbs: &Tbs<'_>) -> Result<Option<OctetString>, PolicyViolation> {
    tbs.read_extension(ID_CE_SUBJECT_KEY_IDENTIFIER)
}

/// The keyIdentifier of authorityKeyIdentifier; the forms by name and serial are refused.
fn authority(tbs: &Tbs<'_>) -> Result<Option<OctetString>, PolicyViolation> {
    match tbs.read_extension(ID_CE_AUTHORITY_KEY_IDENTIFIER)? {
        None => Ok(None),
        Some(AuthorityKeyIdentifier {
            key_identifier: Some(identifier),
            authority_cert_issuer: None,
            authority_cert_serial_number: None,
        }) => Ok(Some(identifier)),
        Some(_) => Err(PolicyViolation::AuthorityKeyIdentifierForm),
    }
}

/// RFC 5280, section 4.2.1.2, method 1, or RFC 7093, section 2, method 1; over the content of
/// the BIT STRING without tag, length and count of unused bits.
fn is_of_key(identifier: &[u8], bits: &[u8]) -> bool {
    let sha1 = digest(&SHA1_FOR_LEGACY_USE_ONLY, bits);
    let sha256 = digest(&SHA256, bits);
    identifier == sha1.as_ref() || Some(identifier) == sha256.as_ref().get(..20)
}

fn key_bits(spki: &[u8]) -> Option<&[u8]> {
    SubjectPublicKeyInfoRef::from_der(spki).ok()?.subject_public_key.as_bytes()
}
