//! Certificates, and private keys under a password, in the forms that people download.

mod cipher;
pub mod file_name;
mod jks;
mod key_pem;
pub mod password;
pub mod pem;
mod pkcs12;
pub mod pkcs7;

use std::num::NonZeroU32;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Deserialize;
use time::OffsetDateTime;
use utoipa::ToSchema;

pub use password::P12Password;

use crate::random::Random;

/// How old the readers of a PKCS#12 file may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum P12Profile {
    /// AES-256 and SHA-256, for everything of this decade.
    #[default]
    Modern,
    /// Triple DES and SHA-1, for what is older.
    Compatible,
}

/// What a package holds.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The private key.
    pub pkcs8: &'a [u8],
    /// DER of its certificate.
    pub leaf: &'a [u8],
    /// DER of the CA certificates, the issuing CA's first, up to the root.
    pub chain: &'a [Vec<u8>],
    /// What programs show it as.
    pub name: &'a str,
}

impl<'a> Contents<'a> {
    /// Leaf to root.
    fn certificates(self) -> impl Iterator<Item = &'a [u8]> {
        std::iter::once(self.leaf).chain(self.chain.iter().map(Vec::as_slice))
    }
}

/// How a package is closed.
#[derive(Clone, Debug)]
pub struct Closing {
    /// What opens it.
    pub password: P12Password,
    /// Of the PKCS#12 file.
    pub profile: P12Profile,
    /// How often the derivation of a key hashes the password.
    pub iterations: NonZeroU32,
}

/// Why there is no package.
#[derive(Debug, thiserror::Error)]
pub enum PackagingError {
    /// The crypto library would not.
    #[error("the crypto library failed")]
    Crypto(#[from] aws_lc_rs::error::Unspecified),
    /// Something is too long for DER.
    #[error("the package can't be written as DER")]
    Der(#[from] der::Error),
    /// What was written is not what was to be written.
    #[error("the package was read back and its {0} is not what it should be")]
    ReadBack(&'static str),
}

/// A PKCS#12 file.
///
/// # Errors
///
/// See [`PackagingError`].
pub fn to_p12(
    contents: &Contents<'_>,
    closing: &Closing,
    random: &dyn Random,
) -> Result<Vec<u8>, PackagingError> {
    let Closing { password, profile, iterations } = closing;
    let keys = counted(|| pkcs12::Keys::derive(password, *profile, *iterations, random))?;
    pkcs12::write(contents, &keys)
}

/// A JKS file, its entry made at `now`.
///
/// # Errors
///
/// See [`PackagingError`].
pub fn to_jks(
    contents: &Contents<'_>,
    closing: &Closing,
    now: OffsetDateTime,
    random: &dyn Random,
) -> Result<Vec<u8>, PackagingError> {
    jks::write(contents, &closing.password, now, random)
}

/// PEM: certificate, chain and encrypted key.
///
/// # Errors
///
/// See [`PackagingError`].
pub fn to_pem(
    contents: &Contents<'_>,
    closing: &Closing,
    random: &dyn Random,
) -> Result<Vec<u8>, PackagingError> {
    key_pem::write(contents, &closing.password, closing.iterations, random)
}

/// Derives a key from a password, which costs more than all else of a request by intention: so its
/// processor time is counted by itself.
fn counted<T>(derive: impl FnOnce() -> T) -> T {
    let used = || Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default();
    let before = used();
    let derived = derive();
    metrics::histogram!("chancery_key_derivation_cpu_seconds")
        .record(used().saturating_sub(before).as_secs_f64());
    derived
}
