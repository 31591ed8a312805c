//! Policy: whether this signer agrees to sign a TBSCertificate.
//!
//! Peer:     the API, through the requests that it sends; no byte here is trusted.
//! Trusts:   the key's pinned policy, the installed CA certificate, and the clock it is given.
//! Promises: a [`CheckedTbs`] obeys every rule, and names exactly the bytes that were checked.
//! Never:    reads a file or a clock, changes a byte, or says yes to what it does not understand.
//!
//! The stories are [`check_certificate`], [`check_own_certificate`] and [`check_ca_certificate`];
//! every rule is a line of the table in [`violation`], which `docs/RULES.md` shows.

mod ca;
mod ca_certificate;
mod certificate;
mod chain;
mod checked;
mod extensions;
mod key_identifiers;
mod key_usage;
mod lint;
mod name_constraints;
mod names;
mod nonce;
mod possession;
mod public_key;
pub mod rule;
mod serial;
mod strict;
mod tbs;
mod validity;
pub mod violation;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use chancery_shared::bad_keys::BadKeys;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use chancery_shared::wire::policy::Policy;
use time::OffsetDateTime;

pub use ca::{check_ca_certificate, check_own_certificate};
pub use ca_certificate::CaCertificate;
pub use certificate::check_certificate;
pub use chain::{Above, CheckedChain, check_chain};
pub use checked::CheckedTbs;
pub use nonce::{ClaimedNonce, ConnectionSerials};
pub use serial::serial_number;
pub use violation::PolicyViolation;

/// What policy must know of the key that is to sign.
#[derive(Clone, Copy, Debug)]
pub struct IssuingKey<'a> {
    /// Which key.
    pub key_id: KeyId,
    /// DER of its SubjectPublicKeyInfo.
    pub spki: &'a [u8],
    /// How it signs, for ever.
    pub signature_algorithm: SignatureAlgorithm,
    /// What it may sign.
    pub policy: &'a Policy,
    /// The installed CA certificate, where there is one.
    pub ca_certificate: Option<&'a CaCertificate>,
}

/// What is to be signed, as the request has it.
#[derive(Debug)]
pub struct Draft<'a> {
    /// DER of the TBSCertificate.
    pub tbs: &'a [u8],
    /// DER of the CSR, where there is one.
    pub csr: Option<&'a [u8]>,
    /// What the serial was made from. A check uses it up, whatever comes of it.
    pub nonce: ClaimedNonce,
}

/// What policy must know of the world.
#[derive(Clone, Copy)]
pub struct Circumstances<'a> {
    /// The signer's clock; for a parked request the time of its parking.
    pub now: OffsetDateTime,
    /// Whether a SubjectPublicKeyInfo (DER) is a CA key of this signer.
    pub is_ca_key: &'a dyn Fn(&[u8]) -> bool,
    /// Keys that others have.
    pub bad_keys: &'a BadKeys,
}

impl std::fmt::Debug for Circumstances<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Circumstances").field("now", &self.now).finish_non_exhaustive()
    }
}
