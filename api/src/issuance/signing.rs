//! What issuance needs of the signer. The client of its socket is one implementation.

use std::future::Future;

use chancery_shared::bytes::SerialNonce;
use chancery_shared::id::KeyId;
use chancery_shared::wire::{Context, JournalHead, Refusal};

use super::tbs::{Draft, DraftError};

/// Signs end-entity certificates.
pub trait Signing: Sync {
    /// Takes the next serial nonce of a connection, drafts with it, and has the draft signed on
    /// that very connection.
    ///
    /// A draft whose connection is lost before the request was sent may be made again, with a
    /// nonce of the next connection. One that was sent is never sent again.
    ///
    /// # Errors
    ///
    /// See [`SigningError`]: only [`SigningError::OutcomeUnknown`] may have a certificate.
    fn sign_certificate<D>(
        &self,
        request: SigningRequest<'_, D>,
    ) -> impl Future<Output = Result<SignedTbs, SigningError>> + Send
    where
        D: Fn(SerialNonce) -> Result<Draft, DraftError> + Send + Sync;
}

/// One certificate that is to be signed.
#[derive(Debug)]
pub struct SigningRequest<'a, D> {
    /// The CA's key.
    pub key_id: KeyId,
    /// Makes the TBS for a nonce.
    pub draft: D,
    /// DER of the CSR that proves possession.
    pub csr: &'a [u8],
    /// For the journal.
    pub context: Context,
}

/// What the signer signed, and where its journal says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedTbs {
    /// DER of the TBSCertificate, exactly as it was sent.
    pub tbs: Vec<u8>,
    /// Content of the signature BIT STRING.
    pub signature: Vec<u8>,
    /// The head after the `signed` entry.
    pub journal: JournalHead,
}

/// Why there is no signature.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// There was nothing to send.
    #[error(transparent)]
    Draft(DraftError),
    /// The signer said no, by its code. Nothing was signed.
    #[error("{}", .0.detail)]
    Refused(Refusal),
    /// The signer can't be reached. Nothing was sent.
    #[error("the signer is not available; send the same request again")]
    Unavailable,
    /// The request was sent and no answer came. If it was signed, the record appears by itself.
    #[error(
        "the signer did not answer in time; if it signed, the certificate appears by itself \
         within minutes, so look before you ask again"
    )]
    OutcomeUnknown,
}
