//! An installed CA certificate: what its key issues under, and within which bounds.

use chancery_shared::bytes::Bytes;
use const_oid::db::rfc5280::{
    ID_CE_BASIC_CONSTRAINTS, ID_CE_CERTIFICATE_POLICIES, ID_CE_EXT_KEY_USAGE,
    ID_CE_INHIBIT_ANY_POLICY, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS, ID_CE_POLICY_CONSTRAINTS,
    ID_CE_SUBJECT_ALT_NAME,
};
use der::Decode as _;
use der::asn1::{AnyRef, BitStringRef, ObjectIdentifier};
use der::{Reader as _, SliceReader};
use time::OffsetDateTime;

use super::key_identifiers;
use super::key_usage::{self, KeyUsage};
use super::name_constraints::NameConstraints;
use super::names::Names;
use super::tbs::{self, Tbs};
use super::violation::PolicyViolation;

/// Critical extensions that reading a CA certificate takes into account.
const UNDERSTOOD: [ObjectIdentifier; 8] = [
    ID_CE_BASIC_CONSTRAINTS,
    ID_CE_CERTIFICATE_POLICIES,
    ID_CE_EXT_KEY_USAGE,
    ID_CE_INHIBIT_ANY_POLICY,
    ID_CE_KEY_USAGE,
    ID_CE_NAME_CONSTRAINTS,
    ID_CE_POLICY_CONSTRAINTS,
    ID_CE_SUBJECT_ALT_NAME,
];

/// A critical extension that would keep the certificate from being read as a CA's.
pub(super) fn not_understood(tbs: &Tbs<'_>) -> Option<ObjectIdentifier> {
    let critical = tbs.extensions.iter().find(|e| e.critical && !UNDERSTOOD.contains(&e.oid));
    critical.map(|extension| extension.oid)
}

/// A CA certificate, read once.
#[derive(Clone, Debug)]
pub struct CaCertificate {
    der: Vec<u8>,
    subject: Vec<u8>,
    subject_key_identifier: Option<Vec<u8>>,
    spki: Vec<u8>,
    not_before: OffsetDateTime,
    not_after: OffsetDateTime,
    path_length: Option<u8>,
    /// Its own first, then those of the CAs above it.
    constraints: Vec<NameConstraints>,
}

impl CaCertificate {
    /// Reads the DER of a Certificate whose subject is a CA. Its signature is not verified here:
    /// [`super::check_chain`] does, when a certificate comes from outside.
    ///
    /// # Errors
    ///
    /// It is not well-formed, not of a CA that may sign certificates, or has a critical
    /// extension that is not understood.
    pub fn from_der(der: &[u8]) -> Result<Self, PolicyViolation> {
        let tbs =
            Tbs::read(Signed::read(der)?.tbs).map_err(|_| PolicyViolation::CertificateMalformed)?;
        if let Some(oid) = not_understood(&tbs) {
            return Err(PolicyViolation::ChainCriticalExtension(oid));
        }
        let constraints = key_usage::basic_constraints(&tbs)?.filter(|constraints| constraints.ca);
        let constraints = constraints.ok_or(PolicyViolation::ChainNotACa)?;
        if KeyUsage::read(&tbs)?.is_some_and(|usage| !usage.has_all(KeyUsage::KEY_CERT_SIGN)) {
            return Err(PolicyViolation::ChainNotACa);
        }
        let name_constraints = tbs
            .extension(ID_CE_NAME_CONSTRAINTS)
            .map(|extension| NameConstraints::read(extension.value))
            .transpose()?;
        Ok(Self {
            der: der.to_vec(),
            subject: tbs.subject.to_vec(),
            subject_key_identifier: key_identifiers::subject(&tbs)?
                .map(|identifier| identifier.as_bytes().to_vec()),
            spki: tbs.spki.to_vec(),
            not_before: tbs.not_before.at,
            not_after: tbs.not_after.at,
            path_length: constraints.path_len_constraint,
            constraints: name_constraints.into_iter().collect(),
        })
    }

    /// Reads a chain that was checked when it was installed: the key's own certificate first,
    /// its issuer next. The bounds of all of them hold.
    ///
    /// # Errors
    ///
    /// The chain is empty, or as [`CaCertificate::from_der`].
    pub fn from_chain(chain: &[Bytes]) -> Result<Self, PolicyViolation> {
        let mut certificates = chain.iter().rev().map(|der| Self::from_der(der.as_slice()));
        let top = certificates.next().ok_or(PolicyViolation::ChainLength(0))??;
        certificates.try_fold(top, |issuer, certificate| Ok(certificate?.below(&issuer)))
    }

    /// This certificate, held also to what binds the CA that issued it: its name constraints and
    /// the room that its path length leaves.
    #[must_use]
    pub fn below(mut self, issuer: &Self) -> Self {
        self.constraints.extend(issuer.constraints.iter().cloned());
        let left = issuer.path_length.map(|length| length.saturating_sub(1));
        self.path_length = match (self.path_length, left) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        };
        self
    }

    /// DER of the Certificate.
    #[must_use]
    pub fn der(&self) -> &[u8] {
        &self.der
    }

    /// DER of the subject, a Name: the issuer of all that the key signs.
    #[must_use]
    pub fn subject(&self) -> &[u8] {
        &self.subject
    }

    /// Content of subjectKeyIdentifier, where it is there.
    #[must_use]
    pub fn subject_key_identifier(&self) -> Option<&[u8]> {
        self.subject_key_identifier.as_deref()
    }

    /// DER of the certified SubjectPublicKeyInfo.
    #[must_use]
    pub fn spki(&self) -> &[u8] {
        &self.spki
    }

    /// The last second of its life.
    #[must_use]
    pub fn not_after(&self) -> OffsetDateTime {
        self.not_after
    }

    /// How many CAs may stand below it in a path, all that binds it taken together; `None` for
    /// no bound.
    #[must_use]
    pub fn path_length(&self) -> Option<u8> {
        self.path_length
    }

    /// Whether `at` lies within its life, the last second included.
    pub(super) fn is_valid_at(&self, at: OffsetDateTime) -> bool {
        self.not_before <= at && at.unix_timestamp() <= self.not_after.unix_timestamp()
    }

    /// Checks names against all name constraints that bind it.
    pub(super) fn check_names(&self, names: &Names) -> Result<(), PolicyViolation> {
        self.constraints.iter().try_for_each(|constraints| constraints.check(names))
    }

    /// Checks an end entity's common names against them, as clients may read these.
    pub(super) fn check_common_names(&self, names: &Names) -> Result<(), PolicyViolation> {
        self.constraints.iter().try_for_each(|constraints| constraints.check_common_names(names))
    }

    /// Checks the names of a CA certificate below it, if there is anything to hold them to.
    pub(super) fn check_names_of(&self, below: &Self) -> Result<(), PolicyViolation> {
        if self.constraints.is_empty() {
            return Ok(());
        }
        self.check_names(&Names::read(&Tbs::read(Signed::read(&below.der)?.tbs)?)?)
    }
}

/// The three parts of a Certificate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Signed<'a> {
    /// DER of the TBSCertificate.
    pub(super) tbs: &'a [u8],
    /// DER of the AlgorithmIdentifier.
    pub(super) algorithm: &'a [u8],
    /// Content of the BIT STRING.
    pub(super) signature: &'a [u8],
}

impl<'a> Signed<'a> {
    /// Splits the DER of a Certificate.
    pub(super) fn read(der: &'a [u8]) -> Result<Self, PolicyViolation> {
        Self::split(der).ok_or(PolicyViolation::CertificateMalformed)
    }

    fn split(der: &'a [u8]) -> Option<Self> {
        let mut reader = SliceReader::new(tbs::one_sequence(der).ok()?).ok()?;
        let tbs = reader.tlv_bytes().ok()?;
        let algorithm = reader.tlv_bytes().ok()?;
        let signature = AnyRef::decode(&mut reader).ok()?;
        reader.finish().ok()?;
        let signature = signature.decode_as::<BitStringRef<'a>>().ok()?.as_bytes()?;
        Some(Self { tbs, algorithm, signature })
    }
}
