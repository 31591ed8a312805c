//! The three operations that sign a certificate.

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::v1::{
    Pending, Reply, Request, SignCaCertificate, SignCertificate, SignOwnCertificate, Signed,
};

use super::{ConnectionHandle, Journaled, SignerClient, SignerError};

/// What became of a request for a signature.
#[derive(Clone, Debug, PartialEq)]
pub enum Signing {
    /// Content of the signature BIT STRING.
    Signed(Vec<u8>),
    /// The operator decides; [`SignerClient::approval_status`] tells.
    Pending(ApprovalId),
}

impl SignerClient {
    /// Has an end-entity certificate signed, on the connection whose nonce is in its serial.
    ///
    /// # Errors
    ///
    /// [`SignerError::RetryDraft`] where that connection is gone and nothing was sent; otherwise
    /// [`SignerError::outcome_is_unknown`] says whether it may have been signed.
    pub async fn sign_certificate(
        &self,
        on: ConnectionHandle,
        request: SignCertificate,
    ) -> Result<Journaled<Signing>, SignerError> {
        signing(self.ask_on(on, Request::SignCertificate(request)).await?)
    }

    /// Has a root CA's own certificate signed and installed.
    ///
    /// # Errors
    ///
    /// As [`Self::sign_certificate`].
    pub async fn sign_own_certificate(
        &self,
        on: ConnectionHandle,
        request: SignOwnCertificate,
    ) -> Result<Journaled<Signing>, SignerError> {
        signing(self.ask_on(on, Request::SignOwnCertificate(request)).await?)
    }

    /// Has a certificate signed for a CA below.
    ///
    /// # Errors
    ///
    /// As [`Self::sign_certificate`].
    pub async fn sign_ca_certificate(
        &self,
        on: ConnectionHandle,
        request: SignCaCertificate,
    ) -> Result<Journaled<Signing>, SignerError> {
        signing(self.ask_on(on, Request::SignCaCertificate(request)).await?)
    }
}

fn signing(answer: Journaled<Reply>) -> Result<Journaled<Signing>, SignerError> {
    answer.expect(|reply| match reply {
        Reply::Signed(Signed { signature }) => Some(Signing::Signed(signature.0)),
        Reply::Pending(Pending { approval_id }) => Some(Signing::Pending(approval_id)),
        _ => None,
    })
}
