//! What issuance needs of the signer. The client of its socket is one implementation.

use std::future::Future;

use chancery_shared::bytes::{Bytes, SerialNonce};
use chancery_shared::fail_point;
use chancery_shared::id::KeyId;
use chancery_shared::wire::v1::SignCertificate;
use chancery_shared::wire::{Context, JournalHead, RefusalCode};

use super::tbs::{Draft, DraftError};
use crate::error::ApiError;
use crate::signer_client::{Journaled, SignerClient, SignerError, Signing as Answer};

/// Signs end-entity certificates.
pub trait Signing: Sync {
    /// Whether there is any use in asking for a signature with this key, as far as is known here.
    ///
    /// # Errors
    ///
    /// What the signer would answer, without the wait.
    fn check_key(&self, id: KeyId) -> Result<(), SigningError>;

    /// Takes the next serial nonce of a connection, drafts with it, and has the draft signed on
    /// that very connection.
    ///
    /// A draft whose connection is lost before the request was sent may be made again, with a
    /// nonce of the next connection. One that was sent is never sent again.
    ///
    /// # Errors
    ///
    /// See [`SigningError`].
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
    /// The signer said no, was not there, or was asked and did not answer:
    /// [`SignerError::outcome_is_unknown`] tells the last from the others.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// Since the request was let in, the issuer or the team was taken away; or nobody could tell.
    #[error("the request is no longer permitted")]
    NoLongerPermitted(#[source] Box<ApiError>),
}

impl SigningError {
    /// Whether the signer's policy forbids what was asked.
    pub fn is_policy_refusal(&self) -> bool {
        let code = RefusalCode::PolicyViolation;
        matches!(self, Self::Signer(SignerError::Refused(refusal)) if refusal.code == code)
    }
}

impl Signing for SignerClient {
    fn check_key(&self, id: KeyId) -> Result<(), SigningError> {
        Ok(self.state().check_key(id)?)
    }

    async fn sign_certificate<D>(
        &self,
        request: SigningRequest<'_, D>,
    ) -> Result<SignedTbs, SigningError>
    where
        D: Fn(SerialNonce) -> Result<Draft, DraftError> + Send + Sync,
    {
        let SigningRequest { key_id, draft, csr, context } = request;
        let mut last = SignerError::Unreachable;
        for _ in 0..DRAFTS {
            let (serial_nonce, connection) = self.serial_nonce().await?;
            // What is known to be away is not waited for.
            self.state().check_key(key_id)?;
            let Draft { tbs, .. } = draft(serial_nonce).map_err(SigningError::Draft)?;
            let request = SignCertificate {
                key_id,
                tbs: Bytes(tbs.clone()),
                csr: Bytes(csr.to_vec()),
                serial_nonce,
                context: context.clone(),
            };
            fail_point::reach("api: drafted");
            match SignerClient::sign_certificate(self, connection, request).await {
                Ok(answer) => return signed(tbs, answer).map_err(SigningError::Signer),
                Err(error @ SignerError::RetryDraft) => last = error,
                Err(error) => return Err(error.into()),
            }
        }
        Err(last.into())
    }
}

/// A certificate of an end entity never waits for the operator, and is journaled before it is
/// answered: any other answer is none.
fn signed(tbs: Vec<u8>, answer: Journaled<Answer>) -> Result<SignedTbs, SignerError> {
    match answer {
        Journaled { value: Answer::Signed(signature), head: Some(journal) } => {
            Ok(SignedTbs { tbs, signature, journal })
        }
        Journaled { value: Answer::Signed(_) | Answer::Pending(_), .. } => {
            Err(SignerError::Protocol)
        }
    }
}

/// How often a draft is made while its connections go away.
const DRAFTS: usize = 3;
