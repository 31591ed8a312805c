//! A CA certificate from outside: its chain up to an anchor that the operator trusts.

use chancery_shared::bytes::Bytes;
use chancery_shared::signature;
use time::OffsetDateTime;

use super::ca_certificate::{CaCertificate, Signed};
use super::tbs::Tbs;
use super::violation::PolicyViolation;

/// No sensible chain is longer, and each step costs a signature verification.
const MAX_LENGTH: usize = 8;

/// A chain that obeys RFC 5280, section 6.1, up to the topmost CA that the signer knows of: so the
/// constraints of all of them bind the first.
#[derive(Debug)]
pub struct CheckedChain {
    certificates: Vec<Bytes>,
}

impl CheckedChain {
    /// DER of the certificates, the key's own first, each followed by its issuer's.
    #[must_use]
    pub fn into_certificates(self) -> Vec<Bytes> {
        self.certificates
    }
}

/// What the signer itself knows of the CAs above a chain.
#[derive(Clone, Copy, Debug)]
pub struct Above<'a> {
    /// DER of the certificates that the operator trusts.
    pub anchors: &'a [Vec<u8>],
    /// The chains that are installed.
    pub installed: &'a [Vec<Bytes>],
}

/// Checks that `chain` leads from the key of `key_spki` (its own certificate first, its issuer
/// next) to one of the anchors. The anchor may end the chain or be left out: the signer puts it
/// there, and what it knows above it.
///
/// # Errors
///
/// The first rule of RFC 5280, section 6.1, that it breaks. Nothing is installed.
pub fn check_chain(
    key_spki: &[u8],
    chain: &[Bytes],
    above: Above<'_>,
    now: OffsetDateTime,
) -> Result<CheckedChain, PolicyViolation> {
    // 1. Bounded, each certificate well-formed and a CA's, the first one the key's.
    if !(1..=MAX_LENGTH).contains(&chain.len()) {
        return Err(PolicyViolation::ChainLength(chain.len()));
    }
    let mut path: Vec<CaCertificate> = chain
        .iter()
        .map(|der| CaCertificate::from_der(der.as_slice()))
        .collect::<Result<_, _>>()?;
    if path.first().is_none_or(|first| first.spki() != key_spki) {
        return Err(PolicyViolation::ChainKey);
    }

    // 2. It ends at an anchor, or where what is installed goes on above that.
    path.extend(missing_anchor(&path, above.anchors)?);
    let top = path.last().ok_or(PolicyViolation::ChainLength(0))?;
    for der in above_anchor(top, above.installed) {
        path.push(CaCertificate::from_der(der.as_slice())?);
    }

    // 3. Each names and is signed by the next.
    for pair in path.windows(2) {
        if let [certificate, issuer] = pair {
            check_link(certificate, issuer)?;
        }
    }

    // 4. All are valid now, and none has more CAs below it than it may.
    for (below, certificate) in path.iter().enumerate() {
        if !certificate.is_valid_at(now) {
            return Err(PolicyViolation::ChainValidity);
        }
        if certificate.path_length().is_some_and(|length| usize::from(length) < below) {
            return Err(PolicyViolation::ChainPathLength);
        }
    }

    // 5. Each has names that all above it may certify; what binds them binds the first too.
    let certificates = path.iter().map(|certificate| Bytes(certificate.der().to_vec())).collect();
    let mut path = path.into_iter().rev();
    let top = path.next().ok_or(PolicyViolation::ChainLength(0))?;
    path.try_fold(top, |issuer, certificate| {
        issuer.check_names_of(&certificate)?;
        Ok(certificate.below(&issuer))
    })?;
    Ok(CheckedChain { certificates })
}

/// The anchor that issued the last certificate, unless that is an anchor itself.
fn missing_anchor(
    path: &[CaCertificate],
    anchors: &[Vec<u8>],
) -> Result<Option<CaCertificate>, PolicyViolation> {
    let last = path.last().ok_or(PolicyViolation::ChainLength(0))?;
    if anchors.iter().any(|anchor| anchor == last.der()) {
        return Ok(None);
    }
    anchors
        .iter()
        .filter_map(|anchor| CaCertificate::from_der(anchor).ok())
        .find(|anchor| check_link(last, anchor).is_ok())
        .map(Some)
        .ok_or(PolicyViolation::ChainAnchor)
}

/// What an installed chain has above this certificate.
fn above_anchor<'a>(anchor: &CaCertificate, installed: &'a [Vec<Bytes>]) -> &'a [Bytes] {
    let rest = |chain: &'a Vec<Bytes>| {
        let at = chain.iter().position(|der| der.as_slice() == anchor.der())?;
        chain.get(at + 1..).filter(|rest| !rest.is_empty())
    };
    installed.iter().find_map(rest).unwrap_or_default()
}

fn check_link(certificate: &CaCertificate, issuer: &CaCertificate) -> Result<(), PolicyViolation> {
    let Signed { tbs, algorithm, signature } = Signed::read(certificate.der())?;
    let parts = Tbs::read(tbs)?;
    if parts.issuer != issuer.subject() {
        return Err(PolicyViolation::ChainIssuer);
    }
    // RFC 5280, section 4.1.1.2: the algorithm inside is the one beside the signature.
    if parts.signature_algorithm != algorithm {
        return Err(PolicyViolation::CertificateMalformed);
    }
    signature::verify(issuer.spki(), algorithm, tbs, signature)
        .map_err(PolicyViolation::ChainSignature)
}
