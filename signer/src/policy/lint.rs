//! The finer rules of the profile (RFC 5280, section 4), on the exact TBS.

use chancery_shared::wire::policy::SubjectKey;
use const_oid::db::rfc5280::{
    ID_CE_AUTHORITY_KEY_IDENTIFIER, ID_CE_BASIC_CONSTRAINTS, ID_CE_CERTIFICATE_POLICIES,
    ID_CE_CRL_DISTRIBUTION_POINTS, ID_CE_EXT_KEY_USAGE, ID_CE_FRESHEST_CRL,
    ID_CE_INHIBIT_ANY_POLICY, ID_CE_ISSUER_ALT_NAME, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS,
    ID_CE_POLICY_CONSTRAINTS, ID_CE_SUBJECT_ALT_NAME, ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES,
    ID_CE_SUBJECT_KEY_IDENTIFIER, ID_KP_CLIENT_AUTH, ID_KP_CODE_SIGNING, ID_KP_EMAIL_PROTECTION,
    ID_KP_SERVER_AUTH, ID_KP_TIME_STAMPING, ID_PE_AUTHORITY_INFO_ACCESS, ID_PE_SUBJECT_INFO_ACCESS,
};
use der::asn1::ObjectIdentifier;
use x509_cert::ext::pkix::CertificatePolicies;

use super::extensions::TLS_FEATURE;
use super::key_usage::{KeyUsage, Usages};
use super::names::Names;
use super::names::distinguished_name::DistinguishedName;
use super::strict;
use super::tbs::Tbs;
use super::violation::PolicyViolation;

/// Sections 4.2.1.3 and 4.2.1.9 to 4.2.1.14: critical wherever they stand.
const CRITICAL: [ObjectIdentifier; 4] =
    [ID_CE_INHIBIT_ANY_POLICY, ID_CE_KEY_USAGE, ID_CE_NAME_CONSTRAINTS, ID_CE_POLICY_CONSTRAINTS];

/// Sections 4.2.1.1, 4.2.1.2, 4.2.1.7, 4.2.1.8, 4.2.1.13, 4.2.1.15, 4.2.2.1 and 4.2.2.2, and RFC
/// 7633: never critical. Some of them are signed only where policy names them.
const NOT_CRITICAL: [ObjectIdentifier; 9] = [
    ID_CE_FRESHEST_CRL,
    ID_CE_ISSUER_ALT_NAME,
    ID_CE_SUBJECT_DIRECTORY_ATTRIBUTES,
    ID_PE_SUBJECT_INFO_ACCESS,
    ID_CE_AUTHORITY_KEY_IDENTIFIER,
    ID_CE_CRL_DISTRIBUTION_POINTS,
    ID_CE_SUBJECT_KEY_IDENTIFIER,
    ID_PE_AUTHORITY_INFO_ACCESS,
    TLS_FEATURE,
];

/// The lints of end-entity certificates.
pub(super) fn check_end_entity(
    tbs: &Tbs<'_>,
    names: &Names,
    kind: SubjectKey,
    usages: &Usages,
) -> Result<(), PolicyViolation> {
    check_any(tbs, names, kind, usages)?;
    check_purposes(tbs, usages)
}

/// The lints of CA certificates.
pub(super) fn check_ca(
    tbs: &Tbs<'_>,
    names: &Names,
    kind: SubjectKey,
    usages: &Usages,
) -> Result<(), PolicyViolation> {
    if tbs.extension(ID_CE_BASIC_CONSTRAINTS).is_some_and(|extension| !extension.critical) {
        return Err(PolicyViolation::LintCriticality(ID_CE_BASIC_CONSTRAINTS));
    }
    check_any(tbs, names, kind, usages)
}

fn check_any(
    tbs: &Tbs<'_>,
    names: &Names,
    kind: SubjectKey,
    usages: &Usages,
) -> Result<(), PolicyViolation> {
    if DistinguishedName::read(tbs.issuer)?.is_empty() {
        return Err(PolicyViolation::LintIssuerEmpty);
    }
    if [tbs.not_before, tbs.not_after].iter().any(|t| t.is_utc_time != (t.at.year() <= 2049)) {
        return Err(PolicyViolation::LintUtcTime);
    }
    if tbs.has_unique_ids {
        return Err(PolicyViolation::LintUniqueIds);
    }
    check_criticality(tbs, names)?;
    if tbs.extension(ID_CE_SUBJECT_KEY_IDENTIFIER).is_none() {
        return Err(PolicyViolation::LintSubjectKeyIdentifier);
    }
    check_key_usage(kind, usages.key_usage)?;
    if let Some(purpose) = strict::first_repeated(usages.purposes.iter().copied()) {
        return Err(PolicyViolation::LintDuplicatePurpose(purpose));
    }
    check_policies_differ(tbs)
}

fn check_criticality(tbs: &Tbs<'_>, names: &Names) -> Result<(), PolicyViolation> {
    let san = tbs.extension(ID_CE_SUBJECT_ALT_NAME);
    if names.subject.is_empty() && !san.is_some_and(|san| san.critical) {
        return Err(PolicyViolation::LintEmptySubject);
    }
    for extension in &tbs.extensions {
        let is_right = match extension.oid {
            ID_CE_SUBJECT_ALT_NAME => extension.critical == names.subject.is_empty(),
            oid if CRITICAL.contains(&oid) => extension.critical,
            oid if NOT_CRITICAL.contains(&oid) => !extension.critical,
            _ => true,
        };
        if !is_right {
            return Err(PolicyViolation::LintCriticality(extension.oid));
        }
    }
    Ok(())
}

/// RFC 3279, section 2.3.1; RFC 5480, section 3; RFC 8410, section 5.
fn check_key_usage(kind: SubjectKey, usage: KeyUsage) -> Result<(), PolicyViolation> {
    let agreement =
        KeyUsage::KEY_AGREEMENT.and(KeyUsage::ENCIPHER_ONLY).and(KeyUsage::DECIPHER_ONLY);
    let encipherment = KeyUsage::KEY_ENCIPHERMENT.and(KeyUsage::DATA_ENCIPHERMENT);
    let unfit = match kind {
        SubjectKey::Rsa2048 | SubjectKey::Rsa3072 | SubjectKey::Rsa4096 => agreement,
        SubjectKey::EcP256 | SubjectKey::EcP384 | SubjectKey::EcP521 => encipherment,
        SubjectKey::Ed25519 => agreement.and(encipherment),
    };
    if usage.has_any(unfit) {
        return Err(PolicyViolation::LintKeyUsageForKey);
    }
    let only = KeyUsage::ENCIPHER_ONLY.and(KeyUsage::DECIPHER_ONLY);
    if usage.has_any(only) && !usage.has_any(KeyUsage::KEY_AGREEMENT) {
        return Err(PolicyViolation::LintEncipherOnly);
    }
    if usage.has_all(only) {
        return Err(PolicyViolation::LintOneDirection);
    }
    Ok(())
}

fn check_purposes(tbs: &Tbs<'_>, usages: &Usages) -> Result<(), PolicyViolation> {
    for purpose in &usages.purposes {
        let serving = serving(*purpose);
        if serving.is_some_and(|serving| !usages.key_usage.has_any(serving)) {
            return Err(PolicyViolation::LintKeyUsageForPurpose(*purpose));
        }
    }
    let is_critical =
        tbs.extension(ID_CE_EXT_KEY_USAGE).is_some_and(|extension| extension.critical);
    if usages.purposes.contains(&ID_KP_TIME_STAMPING)
        && !(is_critical && usages.purposes.len() == 1)
    {
        return Err(PolicyViolation::LintTimeStamping);
    }
    Ok(())
}

/// The bits that are consistent with a purpose (RFC 5280, section 4.2.1.12).
fn serving(purpose: ObjectIdentifier) -> Option<KeyUsage> {
    let signing = KeyUsage::DIGITAL_SIGNATURE;
    match purpose {
        ID_KP_SERVER_AUTH => {
            Some(signing.and(KeyUsage::KEY_ENCIPHERMENT).and(KeyUsage::KEY_AGREEMENT))
        }
        ID_KP_CLIENT_AUTH => Some(signing.and(KeyUsage::KEY_AGREEMENT)),
        ID_KP_CODE_SIGNING => Some(signing),
        ID_KP_EMAIL_PROTECTION => Some(
            signing
                .and(KeyUsage::NON_REPUDIATION)
                .and(KeyUsage::KEY_ENCIPHERMENT)
                .and(KeyUsage::KEY_AGREEMENT),
        ),
        ID_KP_TIME_STAMPING => Some(signing.and(KeyUsage::NON_REPUDIATION)),
        _ => None,
    }
}

fn check_policies_differ(tbs: &Tbs<'_>) -> Result<(), PolicyViolation> {
    let policies = tbs.read_extension::<CertificatePolicies>(ID_CE_CERTIFICATE_POLICIES)?;
    let policies = policies.map(|CertificatePolicies(policies)| policies).unwrap_or_default();
    match strict::first_repeated(policies.iter().map(|policy| policy.policy_identifier)) {
        Some(policy) => Err(PolicyViolation::LintDuplicatePolicy(policy)),
        None => Ok(()),
    }
}
