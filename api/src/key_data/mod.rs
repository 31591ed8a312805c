//! Private keys that are kept for a while, so that their owner can download them again.
//!
//! What is kept are the packages that the owner's password opens, sealed once more under a data key.
//! A data key leaves its token for the memory of this process alone: a copy of the database opens
//! nothing, and without the owner's password neither does the running service.

mod purge;
mod vault;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::error::Unspecified;
use chancery_shared::id::{CertificateId, RowId};

pub use purge::Purger;
#[cfg(test)]
pub(crate) use purge::run_once as purge_once;
pub use vault::Vault;

use crate::random::Random;

/// A form in which a key is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// PKCS#12.
    P12,
    /// JKS.
    Jks,
    /// PEM.
    Pem,
}

impl Form {
    /// As people call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::P12 => "PKCS #12",
            Self::Jks => "JKS",
            Self::Pem => "PEM",
        }
    }
}

/// A data key, open. aws-lc-rs wipes it when it goes.
pub struct DataKey {
    id: RowId,
    key: LessSafeKey,
}

impl std::fmt::Debug for DataKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataKey").field("id", &self.id).finish_non_exhaustive()
    }
}

const NONCE: usize = 12;

impl DataKey {
    fn new(id: RowId, bytes: &[u8]) -> Result<Self, Unspecified> {
        Ok(Self { id, key: LessSafeKey::new(UnboundKey::new(&AES_256_GCM, bytes)?) })
    }

    /// Its id.
    pub fn id(&self) -> RowId {
        self.id
    }

    /// Seals a package of a certificate: a random nonce and AES-256-GCM. A key seals those of one
    /// day, far fewer than random nonces allow (NIST SP 800-38D, section 8.3).
    ///
    /// # Errors
    ///
    /// The crypto library failed.
    pub fn seal(
        &self,
        of: CertificateId,
        form: Form,
        package: &[u8],
        random: &dyn Random,
    ) -> Result<Vec<u8>, Unspecified> {
        let mut nonce = [0; NONCE];
        random.fill(&mut nonce);
        let mut sealed = package.to_vec();
        let nonce_of_key = Nonce::assume_unique_for_key(nonce);
        self.key.seal_in_place_append_tag(nonce_of_key, bound_to(of, form), &mut sealed)?;
        Ok([nonce.as_slice(), &sealed].concat())
    }

    /// Opens what [`Self::seal`] made for the same certificate and form.
    ///
    /// # Errors
    ///
    /// It did not.
    pub fn open(
        &self,
        of: CertificateId,
        form: Form,
        sealed: &[u8],
    ) -> Result<Vec<u8>, Unspecified> {
        let (nonce, sealed) = sealed.split_first_chunk::<NONCE>().ok_or(Unspecified)?;
        let mut package = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let length = self.key.open_in_place(nonce, bound_to(of, form), &mut package)?.len();
        package.truncate(length);
        Ok(package)
    }
}

/// A sealed package is one of this certificate in this form, and opens as nothing else.
fn bound_to(of: CertificateId, form: Form) -> Aad<String> {
    Aad::from(format!("{of} {}", form.name()))
}

#[cfg(test)]
mod tests;
