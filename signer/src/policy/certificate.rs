//! The story of an end-entity certificate, rule by rule.

use super::extensions::{self, Subject};
use super::names::Names;
use super::public_key::PublicKey;
use super::tbs::Tbs;
use super::validity::{self, Bounds};
use super::violation::PolicyViolation;
use super::{CheckedTbs, Circumstances, Draft, IssuingKey};
use super::{key_identifiers, key_usage, lint, possession, serial};

/// Checks the draft of an end-entity certificate: cheap rules first, the first broken one wins.
///
/// The steps are those of "Policy on a TBS" in the signer's documentation. That the key exists
/// and is live is for the caller to know.
///
/// # Errors
///
/// The first rule broken. Nothing has been signed, and nothing will be; the nonce is used up.
#[expect(clippy::needless_pass_by_value, reason = "a draft, and its nonce, are checked once")]
pub fn check_certificate(
    key: &IssuingKey<'_>,
    draft: Draft<'_>,
    at: &Circumstances<'_>,
) -> Result<CheckedTbs, PolicyViolation> {
    // 1. Without a CA certificate there is no issuer.
    let issuer = key.ca_certificate.ok_or(PolicyViolation::NoCaCertificate)?;

    // 2. Bounded in size; strict DER of version 3; no extension twice.
    let tbs = Tbs::read(draft.tbs)?;

    // 3. The issuer is the CA certificate's subject, byte for byte.
    check_issuer(&tbs, issuer.subject())?;

    // 4. The algorithm inside is the one that the key will sign with.
    check_algorithm(&tbs, key)?;

    // 5. The serial number is made from this nonce and these bytes.
    let serial_number = serial::check(&draft.nonce.nonce(), draft.tbs)?;

    // 6. It begins about now, and ends within policy and the CA's own life.
    let bounds = Bounds {
        backdate_minutes: key.policy.backdate_minutes,
        max_days: key.policy.max_validity_days,
        issuer_ends: Some(issuer.not_after()),
    };
    validity::check(&tbs, bounds, at.now)?;

    // 7. The subject's key is sound, allowed, and the subject's own.
    let public_key = PublicKey::read(tbs.spki)?;
    public_key.check(key.policy)?;
    if tbs.spki == key.spki || (at.is_ca_key)(tbs.spki) {
        return Err(PolicyViolation::CaKey);
    }
    if at.bad_keys.contains(tbs.spki) {
        return Err(PolicyViolation::KnownKey);
    }

    // 8. Whoever asks holds its private key.
    possession::check(draft.csr.ok_or(PolicyViolation::CsrMissing)?, tbs.spki)?;

    // 9. It is no CA, and serves only purposes that policy allows.
    let usages = key_usage::check_end_entity(&tbs, key.policy)?;

    // 10. It says which key signed it and which it certifies.
    key_identifiers::check_authority(&tbs, issuer)?;
    key_identifiers::check_subject(&tbs, public_key.bits)?;

    // 11. Its names are well-formed, allowed, and within what the CA may certify.
    let names = Names::read(&tbs)?;
    if names.alternative.is_none() && !key.policy.allow_without_san {
        return Err(PolicyViolation::AlternativeNameRequired);
    }
    names.check(key.policy)?;
    issuer.check_names(&names)?;
    issuer.check_common_names(&names)?;

    // 12. Every extension is known and read to its end, or allowed by policy.
    extensions::check(&tbs, key.policy, Subject::EndEntity)?;

    // 13. The profile's finer rules.
    lint::check_end_entity(&tbs, &names, public_key.kind, &usages)?;

    Ok(CheckedTbs::after_all_checks("sign-certificate", key, &draft, &tbs, serial_number))
}

/// The issuer's bytes are `expected`: a name that only compares equal would break chains.
pub(super) fn check_issuer(tbs: &Tbs<'_>, expected: &[u8]) -> Result<(), PolicyViolation> {
    if tbs.issuer == expected { Ok(()) } else { Err(PolicyViolation::IssuerName) }
}

/// RFC 5280, section 4.1.1.2: the algorithm inside equals the one beside the signature.
pub(super) fn check_algorithm(tbs: &Tbs<'_>, key: &IssuingKey<'_>) -> Result<(), PolicyViolation> {
    if tbs.signature_algorithm == key.signature_algorithm.algorithm_identifier() {
        Ok(())
    } else {
        Err(PolicyViolation::SignatureAlgorithm)
    }
}
