//! The draft of an end-entity certificate: profile × request × CA.

use chancery_shared::bytes::SerialNonce;
use der::asn1::ObjectIdentifier;
use time::{Duration, OffsetDateTime};
use x509_cert::ext::Extension;

use super::extensions::Extensions;
use super::issuing_ca::IssuingCa;
use super::subject_key::SubjectKeyKind;
use super::tbs::{self, Draft, DraftError, Fields, Period};
use crate::certificate::KeyUsage;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::name::{DistinguishedName, SubjectAltName};

/// Who is certified, once profile and rules have let it pass.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// May be empty where there are alternative names.
    pub name: &'a DistinguishedName,
    /// From [`ProfileDefinition::names`].
    pub alternative_names: &'a [SubjectAltName],
    /// DER of the SubjectPublicKeyInfo.
    pub spki: &'a [u8],
    /// What kind of key that is.
    pub key: SubjectKeyKind,
}

/// What a certificate will be, whatever its serial number.
#[derive(Clone, Debug)]
pub struct Plan {
    validity: Period,
    is_cut: bool,
    extensions: Vec<Extension>,
}

impl Plan {
    /// Profile × subject × CA. The certificate's end is cut to the CA's own.
    ///
    /// # Errors
    ///
    /// The CA has expired, or no usage fits the key.
    pub fn new(
        profile: &ProfileDefinition,
        ca: &IssuingCa,
        subject: &Subject<'_>,
        now: OffsetDateTime,
    ) -> Result<Self, DraftError> {
        let backdate = Duration::minutes(profile.backdate_minutes.into());
        let lifetime = Duration::minutes(profile.lifetime_in_minutes.into());
        let validity = Period::new(now, backdate, lifetime, Some(ca.validity))?;
        let is_cut = validity.not_after < Period::new(now, backdate, lifetime, None)?.not_after;
        let extensions = extensions(profile, ca, subject)?.into_vec();
        Ok(Self { validity, is_cut, extensions })
    }

    /// Drafts the certificate.
    ///
    /// # Errors
    ///
    /// It would be too large.
    pub fn draft(
        &self,
        ca: &IssuingCa,
        subject: &Subject<'_>,
        nonce: SerialNonce,
    ) -> Result<Draft, DraftError> {
        let fields = Fields {
            signature_algorithm: ca.signature_algorithm,
            issuer: &ca.subject,
            validity: self.validity,
            subject: subject.name.der(),
            spki: subject.spki,
            extensions: self.extensions.clone(),
        };
        tbs::lay_out(&fields, nonce)
    }

    /// Whether it ends with its CA, before the profile's lifetime is over.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// DER of the value of the extension of this type.
    pub(crate) fn extension(&self, id: ObjectIdentifier) -> Option<&[u8]> {
        let found = self.extensions.iter().find(|extension| extension.extn_id == id);
        found.map(|extension| extension.extn_value.as_bytes())
    }
}

fn extensions(
    profile: &ProfileDefinition,
    ca: &IssuingCa,
    subject: &Subject<'_>,
) -> Result<Extensions, DraftError> {
    let usages: Vec<KeyUsage> =
        profile.key_usages.iter().copied().filter(|usage| fits(*usage, subject.key)).collect();
    if usages.is_empty() {
        return Err(DraftError::NoKeyUsage);
    }
    let mut extensions = Extensions::default();
    extensions.authority_key_identifier(&ca.key_identifier)?;
    extensions.subject_key_identifier(subject.spki)?;
    extensions.key_usage(&usages)?;
    extensions.extended_key_usage(&profile.enhanced_key_usages)?;
    extensions.subject_alt_name(subject.alternative_names, subject.name.is_empty())?;
    extensions.pointers(&ca.pointers)?;
    extensions.policies(&profile.policies)?;
    if profile.ocsp_no_check {
        extensions.ocsp_no_check()?;
    }
    for custom in &profile.custom_extensions {
        let oid = ObjectIdentifier::new(&custom.oid).map_err(der::Error::from)?;
        extensions.add(oid, custom.critical, custom.value.as_slice())?;
    }
    Ok(extensions)
}

/// Whether keys of this kind can be used so (RFC 3279, section 2.3; RFC 8410, section 5).
pub(crate) fn fits(usage: KeyUsage, key: SubjectKeyKind) -> bool {
    use SubjectKeyKind::{Ed25519, Rsa};
    match usage {
        KeyUsage::DigitalSignature
        | KeyUsage::NonRepudiation
        | KeyUsage::CertificateSign
        | KeyUsage::CrlSign => true,
        KeyUsage::KeyEncipherment | KeyUsage::DataEncipherment => matches!(key, Rsa { .. }),
        KeyUsage::KeyAgreement | KeyUsage::EncipherOnly | KeyUsage::DecipherOnly => {
            !matches!(key, Rsa { .. } | Ed25519)
        }
    }
}
