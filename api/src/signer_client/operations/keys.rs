//! Keys: made, certified from outside, disabled, enabled, destroyed.

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::v1::{
    CreateCaKey, InstallCaCertificate, KeyChange, KeyChanged, KeyCreated, KeyState, Pending, Reply,
    Request,
};

use super::{Journaled, SignerClient, SignerError};

/// What became of a request to change a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyChanging {
    /// The key is in this state now.
    Changed(KeyState),
    /// The operator decides; [`SignerClient::approval_status`] tells.
    Pending(ApprovalId),
}

impl SignerClient {
    /// Has a CA key made.
    ///
    /// # Errors
    ///
    /// Where the outcome is unknown, the journal tells by the context which key was made.
    pub async fn create_ca_key(
        &self,
        request: CreateCaKey,
    ) -> Result<Journaled<KeyCreated>, SignerError> {
        self.ask(Request::CreateCaKey(request)).await?.expect(|reply| match reply {
            Reply::KeyCreated(created) => Some(created),
            _ => None,
        })
    }

    /// Installs a CA certificate that came from outside.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn install_ca_certificate(
        &self,
        request: InstallCaCertificate,
    ) -> Result<Journaled<KeyChanging>, SignerError> {
        changing(self.ask(Request::InstallCaCertificate(request)).await?)
    }

    /// Takes a key out of use.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn disable_key(
        &self,
        request: KeyChange,
    ) -> Result<Journaled<KeyChanging>, SignerError> {
        changing(self.ask(Request::DisableKey(request)).await?)
    }

    /// Brings a disabled key back.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn enable_key(
        &self,
        request: KeyChange,
    ) -> Result<Journaled<KeyChanging>, SignerError> {
        changing(self.ask(Request::EnableKey(request)).await?)
    }

    /// Destroys a disabled key for good.
    ///
    /// # Errors
    ///
    /// See [`SignerError`].
    pub async fn destroy_key(
        &self,
        request: KeyChange,
    ) -> Result<Journaled<KeyChanging>, SignerError> {
        changing(self.ask(Request::DestroyKey(request)).await?)
    }
}

fn changing(answer: Journaled<Reply>) -> Result<Journaled<KeyChanging>, SignerError> {
    answer.expect(|reply| match reply {
        Reply::KeyChanged(KeyChanged { state }) => Some(KeyChanging::Changed(state)),
        Reply::Pending(Pending { approval_id }) => Some(KeyChanging::Pending(approval_id)),
        _ => None,
    })
}
