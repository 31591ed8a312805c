//! Data keys under the token's seal key.

use chancery_shared::bytes::Bytes;
use chancery_shared::wire::v1::{Reply, Request, Seal, Unseal};
use zeroize::Zeroizing;

use super::{Journaled, SignerClient, SignerError};

impl SignerClient {
    /// Encrypts a 32-byte data key under the token's seal key.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn seal(&self, request: Seal) -> Result<Journaled<Bytes>, SignerError> {
        self.ask(Request::Seal(request)).await?.expect(|reply| match reply {
            Reply::Sealed(sealed) => Some(sealed.blob),
            _ => None,
        })
    }

    /// Opens what [`Self::seal`] made.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn unseal(
        &self,
        request: Unseal,
    ) -> Result<Journaled<Zeroizing<Vec<u8>>>, SignerError> {
        self.ask(Request::Unseal(request)).await?.expect(|reply| match reply {
            Reply::Unsealed(unsealed) => Some(unsealed.bytes.into_inner()),
            _ => None,
        })
    }
}
