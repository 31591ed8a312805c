//! Proof that whoever asks holds the private key of what is certified.

use chancery_shared::csr::Csr;
use chancery_shared::wire::MAX_DER;

use super::violation::PolicyViolation;

/// Checks that `csr` is for exactly the key of `spki` and signed by it.
pub(super) fn check(csr: &[u8], spki: &[u8]) -> Result<(), PolicyViolation> {
    if csr.len() > MAX_DER {
        return Err(PolicyViolation::CsrTooLong(csr.len()));
    }
    let csr = Csr::from_der(csr).map_err(PolicyViolation::CsrMalformed)?;
    // Compared before verified: another key's good signature proves nothing here.
    if csr.spki != spki {
        return Err(PolicyViolation::CsrKey);
    }
    csr.verify_possession().map_err(PolicyViolation::CsrPossession)
}
