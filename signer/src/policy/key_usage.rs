//! What a certificate says its key may be used for: basicConstraints, keyUsage, extKeyUsage.

use chancery_shared::wire::policy::Policy;
use const_oid::db::rfc5280::{
    ANY_EXTENDED_KEY_USAGE, ID_CE_BASIC_CONSTRAINTS, ID_CE_EXT_KEY_USAGE, ID_CE_KEY_USAGE,
    ID_KP_OCSP_SIGNING,
};
use der::asn1::{BitStringRef, ObjectIdentifier};
use x509_cert::ext::pkix::BasicConstraints;

use super::tbs::Tbs;
use super::violation::PolicyViolation;

/// The bits of keyUsage (RFC 5280, section 4.2.1.3), bit 0 the lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyUsage(u16);

impl KeyUsage {
    pub(super) const DIGITAL_SIGNATURE: Self = Self(1 << 0);
    pub(super) const NON_REPUDIATION: Self = Self(1 << 1);
    pub(super) const KEY_ENCIPHERMENT: Self = Self(1 << 2);
    pub(super) const DATA_ENCIPHERMENT: Self = Self(1 << 3);
    pub(super) const KEY_AGREEMENT: Self = Self(1 << 4);
    pub(super) const KEY_CERT_SIGN: Self = Self(1 << 5);
    pub(super) const CRL_SIGN: Self = Self(1 << 6);
    pub(super) const ENCIPHER_ONLY: Self = Self(1 << 7);
    pub(super) const DECIPHER_ONLY: Self = Self(1 << 8);

    /// Reads the extension where it is there.
    pub(super) fn read(tbs: &Tbs<'_>) -> Result<Option<Self>, PolicyViolation> {
        let Some(bits) = tbs.read_extension::<BitStringRef<'_>>(ID_CE_KEY_USAGE)? else {
            return Ok(None);
        };
        let usage =
            bits.bits().enumerate().filter(|(_, is_set)| *is_set).fold(0_u16, |usage, (at, _)| {
                usage | 1_u16.checked_shl(bit(at)).unwrap_or(1 << 15)
            });
        // X.690, section 11.2.2: no trailing zero bits; RFC 5280: at least one bit is set, and
        // there are nine.
        let is_canonical = bits.bit_len() == 16 - usage.leading_zeros() as usize;
        if usage == 0 || usage >= 1 << 9 || !is_canonical {
            return Err(PolicyViolation::KeyUsageForm);
        }
        Ok(Some(Self(usage)))
    }

    pub(super) fn has_any(self, bits: Self) -> bool {
        self.0 & bits.0 != 0
    }

    pub(super) fn has_all(self, bits: Self) -> bool {
        self.0 & bits.0 == bits.0
    }

    pub(super) const fn and(self, bits: Self) -> Self {
        Self(self.0 | bits.0)
    }

    pub(super) fn without(self, bits: Self) -> Self {
        Self(self.0 & !bits.0)
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

fn bit(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// What an end-entity certificate may be used for, checked.
#[derive(Debug)]
pub(super) struct Usages {
    pub(super) key_usage: KeyUsage,
    pub(super) purposes: Vec<ObjectIdentifier>,
}

/// basicConstraints, where they are there.
pub(super) fn basic_constraints(
    tbs: &Tbs<'_>,
) -> Result<Option<BasicConstraints>, PolicyViolation> {
    tbs.read_extension(ID_CE_BASIC_CONSTRAINTS)
}

/// Checks that the subject is no CA, and its purposes against policy.
pub(super) fn check_end_entity(tbs: &Tbs<'_>, policy: &Policy) -> Result<Usages, PolicyViolation> {
    if let Some(constraints) = basic_constraints(tbs)? {
        if constraints.ca {
            return Err(PolicyViolation::CaCertificate);
        }
        if constraints.path_len_constraint.is_some() {
            return Err(PolicyViolation::PathLengthWithoutCa);
        }
    }
    let key_usage = KeyUsage::read(tbs)?.ok_or(PolicyViolation::KeyUsageAbsent)?;
    if key_usage.has_any(KeyUsage::KEY_CERT_SIGN.and(KeyUsage::CRL_SIGN)) {
        return Err(PolicyViolation::CaKeyUsage);
    }
    // RFC 5280, section 4.2.1.12: without the extension the key may serve any purpose.
    let purposes = check_purposes(tbs, policy)?.ok_or(PolicyViolation::ExtendedKeyUsageAbsent)?;
    Ok(Usages { key_usage, purposes })
}

/// Checks the purposes of any certificate against policy, where it names some.
pub(super) fn check_purposes(
    tbs: &Tbs<'_>,
    policy: &Policy,
) -> Result<Option<Vec<ObjectIdentifier>>, PolicyViolation> {
    let Some(purposes) = tbs.read_extension::<Vec<ObjectIdentifier>>(ID_CE_EXT_KEY_USAGE)? else {
        return Ok(None);
    };
    if purposes.is_empty() {
        return Err(PolicyViolation::ExtendedKeyUsageEmpty);
    }
    for purpose in &purposes {
        if *purpose == ANY_EXTENDED_KEY_USAGE {
            return Err(PolicyViolation::AnyExtendedKeyUsage);
        }
        // Whoever holds such a key answers for the whole CA.
        if *purpose == ID_KP_OCSP_SIGNING {
            return Err(PolicyViolation::OcspSigning);
        }
        let text = purpose.to_string();
        if !policy.extended_key_usages.contains(&text) {
            return Err(PolicyViolation::ExtendedKeyUsageNotAllowed(*purpose));
        }
    }
    Ok(Some(purposes))
}
