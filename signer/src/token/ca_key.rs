//! A CA key on a token. Its only operation takes what was checked and recorded, once.

use std::sync::Arc;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::KeyId;
use chancery_shared::signature::Verifier;
use chancery_shared::wire::algorithm::SignatureAlgorithm;

use super::error::TokenError;
use super::handle::Token;
use super::mechanism::{finish, prepare};
use super::protocol::{Operation, Output};
use crate::journal::RecordedTbs;

/// A private key that stays on its token.
#[derive(Clone, Debug)]
pub struct CaKey {
    token: Token,
    key_id: KeyId,
    algorithm: SignatureAlgorithm,
    /// Of the public half, with which each signature is verified; without one nothing passes.
    verifier: Option<Arc<Verifier>>,
}

/// A signature by a CA key, verified.
#[derive(Debug)]
pub struct Signature {
    /// Content of the BIT STRING; for ECDSA the DER of Ecdsa-Sig-Value.
    pub value: Vec<u8>,
    /// The journal's intent to which it belongs.
    pub intent: u64,
}

/// No signature has left, and none of this intent ever will.
#[derive(Debug, thiserror::Error)]
#[error("intent {intent} was not signed")]
pub struct SigningFailed {
    /// The journal's intent, to be closed.
    pub intent: u64,
    /// Why.
    #[source]
    pub error: TokenError,
}

impl Token {
    /// The key of this id, with what the keyring knows of it. Whether the token holds it shows
    /// when it signs.
    pub fn ca_key(
        &self,
        key_id: KeyId,
        algorithm: SignatureAlgorithm,
        verifier: Option<Arc<Verifier>>,
    ) -> CaKey {
        CaKey { token: self.clone(), key_id, algorithm, verifier }
    }
}

impl CaKey {
    /// Signs what was checked and recorded for this key, and verifies the signature with the
    /// key's public half. A worker that is lost meanwhile is replaced and asked once more.
    ///
    /// # Errors
    ///
    /// Nothing was signed, or what was signed is discarded. The worker has answered or is gone.
    pub async fn sign(&self, tbs: RecordedTbs) -> Result<Signature, SigningFailed> {
        let intent = tbs.intent();
        let failed = |error| SigningFailed { intent, error };
        self.accept(tbs.key_id(), tbs.signature_algorithm()).map_err(failed)?;
        let value = self.sign_bytes(tbs.der()).await.map_err(failed)?;
        Ok(Signature { value, intent })
    }

    /// Takes only what was checked for this key and this way of signing.
    pub(super) fn accept(
        &self,
        key_id: KeyId,
        algorithm: SignatureAlgorithm,
    ) -> Result<(), TokenError> {
        if key_id == self.key_id && algorithm == self.algorithm {
            Ok(())
        } else {
            Err(TokenError::WrongAlgorithm)
        }
    }

    /// Signs any bytes: private to this module, because only a [`RecordedTbs`] may be signed.
    pub(super) async fn sign_bytes(&self, message: &[u8]) -> Result<Vec<u8>, TokenError> {
        let verifier = self.verifier.as_ref().ok_or(TokenError::WrongSignature)?;
        let operation = Operation::Sign {
            key_id: self.key_id,
            algorithm: self.algorithm,
            data: Bytes(prepare(self.algorithm, message)),
        };
        let answer = self.token.call(operation).await;
        self.token.note_asked(self.key_id, &answer);
        let Output::Signature(Bytes(raw)) = answer? else {
            return Err(TokenError::WrongSignature);
        };
        let value = finish(self.algorithm, raw).ok_or(TokenError::WrongSignature)?;
        verifier.verify(message, &value).map_err(|_| TokenError::WrongSignature)?;
        Ok(value)
    }
}
