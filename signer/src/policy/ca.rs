//! The stories of CA certificates: a key's own, and one below it.

use chancery_shared::wire::policy::CertifyCas;

use super::ca_certificate::not_understood;
use super::certificate::{check_algorithm, check_issuer};
use super::extensions::{self, Subject};
use super::key_usage::{self, KeyUsage, Usages};
use super::names::Names;
use super::public_key::PublicKey;
use super::tbs::Tbs;
use super::validity::{self, Bounds};
use super::violation::PolicyViolation;
use super::{CaCertificate, CheckedTbs, Circumstances, Draft, IssuingKey};
use super::{key_identifiers, lint, possession, serial};

/// Checks the draft of a key's own, self-signed CA certificate.
///
/// That the key has no CA certificate yet is for the caller to know.
///
/// # Errors
///
/// The first rule broken. Nothing has been signed, and nothing will be; the nonce is used up.
#[expect(clippy::needless_pass_by_value, reason = "a draft, and its nonce, are checked once")]
pub fn check_own_certificate(
    key: &IssuingKey<'_>,
    draft: Draft<'_>,
    at: &Circumstances<'_>,
) -> Result<CheckedTbs, PolicyViolation> {
    // 1. The ceiling for CA certificates holds for the key's own too.
    let ceiling = ceiling(key)?;

    // 2. Bounded in size; strict DER of version 3; no extension twice.
    let tbs = Tbs::read(draft.tbs)?;

    // 3. It is self-signed: the issuer is the subject, byte for byte, and has a name.
    check_issuer(&tbs, tbs.subject).map_err(|_| PolicyViolation::OwnSubject)?;

    // 4. to 6. Algorithm, serial number and life, as of any certificate.
    check_algorithm(&tbs, key)?;
    let serial_number = serial::check(&draft.nonce.nonce(), draft.tbs)?;
    validity::check(&tbs, bounds(key, ceiling, None), at.now)?;

    // 7. and 8. The certified key is the signing key, so possession needs no proof.
    if tbs.spki != key.spki {
        return Err(PolicyViolation::OwnKey);
    }
    let public_key = PublicKey::read(tbs.spki)?;

    // 9. It is a CA.
    let usages = check_ca_usages(&tbs, key)?;

    // 10. Where it names its issuer's key, that is its own.
    key_identifiers::check_own_authority(&tbs, public_key.bits)?;
    key_identifiers::check_subject(&tbs, public_key.bits)?;

    // 11. Its names are well-formed and allowed.
    let names = check_ca_names(&tbs, key)?;

    // 12. and 13. Extensions and the profile's finer rules.
    check_extensions(&tbs, key)?;
    lint::check_ca(&tbs, &names, public_key.kind, &usages.usages)?;

    Ok(CheckedTbs::after_all_checks("sign-own-certificate", key, &draft, &tbs, serial_number))
}

/// Checks the draft of a CA certificate below the key's own.
///
/// Whether the operator has to approve it, and whether a certified key of this signer has a CA
/// certificate already, is for the caller to know.
///
/// # Errors
///
/// The first rule broken. Nothing has been signed, and nothing will be; the nonce is used up.
#[expect(clippy::needless_pass_by_value, reason = "a draft, and its nonce, are checked once")]
pub fn check_ca_certificate(
    key: &IssuingKey<'_>,
    draft: Draft<'_>,
    at: &Circumstances<'_>,
) -> Result<CheckedTbs, PolicyViolation> {
    // 1. The key has a CA certificate, and policy lets it certify CAs.
    let issuer = key.ca_certificate.ok_or(PolicyViolation::NoCaCertificate)?;
    let ceiling = ceiling(key)?;

    // 2. to 6. As of any certificate.
    let tbs = Tbs::read(draft.tbs)?;
    check_issuer(&tbs, issuer.subject())?;
    check_algorithm(&tbs, key)?;
    let serial_number = serial::check(&draft.nonce.nonce(), draft.tbs)?;
    validity::check(&tbs, bounds(key, ceiling, Some(issuer)), at.now)?;

    // 7. The certified key is sound and another one, as the name is.
    let public_key = PublicKey::read(tbs.spki)?;
    if tbs.subject == issuer.subject() || tbs.spki == key.spki {
        return Err(PolicyViolation::SelfIssued);
    }

    // 8. The signer knows who holds it, or is shown proof. A key from outside must be of a kind
    // that policy allows; the kinds of the signer's own keys were the operator's choice.
    let is_own = (at.is_ca_key)(tbs.spki);
    if !is_own {
        public_key.check(key.policy)?;
        if at.bad_keys.contains(tbs.spki) {
            return Err(PolicyViolation::KnownKey);
        }
    }
    match draft.csr {
        Some(csr) => possession::check(csr, tbs.spki)?,
        None if is_own => {}
        None => return Err(PolicyViolation::CsrMissing),
    }

    // 9. It is a CA, and fewer CAs can stand below it than below its issuer.
    let usages = check_ca_usages(&tbs, key)?;
    check_path_length(usages.path_length, issuer.path_length(), ceiling.max_path_length)?;

    // 10. It says which key signed it and which it certifies.
    key_identifiers::check_authority(&tbs, issuer)?;
    key_identifiers::check_subject(&tbs, public_key.bits)?;

    // 11. Its names are well-formed, allowed, and within what the issuer may certify.
    let names = check_ca_names(&tbs, key)?;
    issuer.check_names(&names)?;

    // 12. and 13. Extensions (its own name constraints among them) and the finer rules.
    check_extensions(&tbs, key)?;
    lint::check_ca(&tbs, &names, public_key.kind, &usages.usages)?;

    Ok(CheckedTbs::after_all_checks("sign-ca-certificate", key, &draft, &tbs, serial_number))
}

fn ceiling<'a>(key: &IssuingKey<'a>) -> Result<&'a CertifyCas, PolicyViolation> {
    key.policy.certify_cas.as_ref().ok_or(PolicyViolation::MayNotCertifyCas)
}

fn bounds(key: &IssuingKey<'_>, ceiling: &CertifyCas, issuer: Option<&CaCertificate>) -> Bounds {
    Bounds {
        backdate_minutes: key.policy.backdate_minutes,
        max_days: ceiling.max_validity_days,
        issuer_ends: issuer.map(CaCertificate::not_after),
    }
}

/// What a CA certificate says of its use.
struct CaUsages {
    usages: Usages,
    path_length: Option<u8>,
}

/// RFC 5280, sections 4.2.1.3 and 4.2.1.9: CA true, keyCertSign, and cRLSign to revoke.
fn check_ca_usages(tbs: &Tbs<'_>, key: &IssuingKey<'_>) -> Result<CaUsages, PolicyViolation> {
    let constraints = key_usage::basic_constraints(tbs)?.filter(|constraints| constraints.ca);
    let constraints = constraints.ok_or(PolicyViolation::NotACa)?;
    let needed = KeyUsage::KEY_CERT_SIGN.and(KeyUsage::CRL_SIGN);
    let allowed = needed.and(KeyUsage::DIGITAL_SIGNATURE).and(KeyUsage::NON_REPUDIATION);
    let key_usage = KeyUsage::read(tbs)?
        .filter(|usage| usage.has_all(needed) && usage.without(allowed).is_empty())
        .ok_or(PolicyViolation::CaKeyUsageMissing)?;
    let purposes = key_usage::check_purposes(tbs, key.policy)?.unwrap_or_default();
    let path_length = constraints.path_len_constraint;
    Ok(CaUsages { usages: Usages { key_usage, purposes }, path_length })
}

/// `issuers` is the issuer's path length with all that stands above it, `policys` the policy's.
fn check_path_length(
    path_length: Option<u8>,
    issuers: Option<u8>,
    policys: Option<u8>,
) -> Result<(), PolicyViolation> {
    if let Some(issuers) = issuers {
        let max = issuers.checked_sub(1).ok_or(PolicyViolation::IssuerPathLength)?;
        if path_length.is_none_or(|length| length > max) {
            return Err(PolicyViolation::PathLength(max));
        }
    }
    match policys {
        Some(max) if path_length.is_none_or(|length| length > max) => {
            Err(PolicyViolation::PathLengthOfPolicy(max))
        }
        _ => Ok(()),
    }
}

/// What is signed here must also be readable as the CA certificate that it becomes.
fn check_extensions(tbs: &Tbs<'_>, key: &IssuingKey<'_>) -> Result<(), PolicyViolation> {
    extensions::check(tbs, key.policy, Subject::Ca)?;
    not_understood(tbs).map_or(Ok(()), |oid| Err(PolicyViolation::CriticalInCa(oid)))
}

fn check_ca_names(tbs: &Tbs<'_>, key: &IssuingKey<'_>) -> Result<Names, PolicyViolation> {
    let names = Names::read(tbs)?;
    if names.subject.is_empty() {
        return Err(PolicyViolation::CaSubjectEmpty);
    }
    names.check(key.policy)?;
    Ok(names)
}
