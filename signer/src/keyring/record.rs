//! One CA key as the keyring knows it.

use std::sync::{Arc, OnceLock};

use chancery_shared::bytes::Bytes;
use chancery_shared::id::KeyId;
use chancery_shared::signature::Verifier;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{KeyRole, KeyState, KeySummary};
use serde::{Deserialize, Serialize};
use tokio::sync::RwLock;

use crate::policy::{CaCertificate, IssuingKey};

/// Where a key stands in its life.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Life {
    /// Being made; gone at the next start if it never is.
    Pending,
    /// May sign.
    Live,
    /// May not sign now.
    Disabled,
    /// May never sign again; the private key is still to be removed from the token.
    Destroying,
    /// The private key is gone.
    Destroyed,
}

/// One CA key. A change makes a new record; the old one stays what it was.
///
/// Stored in `keyring.json`: a change of the serialised fields is a change of the file's version.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyRecord {
    /// Its id; the `CKA_ID` on the token is the same bytes.
    pub key_id: KeyId,
    /// Name of the token that holds it.
    pub token: String,
    /// Kind of key pair.
    pub key_algorithm: KeyAlgorithm,
    /// How it signs.
    pub signature_algorithm: SignatureAlgorithm,
    /// What it is for.
    pub role: KeyRole,
    /// What it may sign, pinned when it was made.
    pub policy: Policy,
    /// Where it stands.
    pub life: Life,
    spki: Bytes,
    ca_chain: Vec<Bytes>,
    /// Parsed from `ca_chain`; absent in the file.
    #[serde(skip)]
    ca_certificate: Option<Arc<CaCertificate>>,
    /// Made of `spki` by the first who asks; absent in the file.
    #[serde(skip)]
    verifier: OnceLock<Option<Arc<Verifier>>>,
    /// Read by each use of the key, written by whoever waits for their end.
    #[serde(skip)]
    gate: Arc<RwLock<()>>,
}

impl KeyRecord {
    /// The key that an [`Event::KeyPending`] announces.
    pub(super) fn pending(event: &Event) -> Option<Self> {
        let Event::KeyPending {
            key_id,
            token,
            key_algorithm,
            signature_algorithm,
            role,
            policy,
            context: _,
        } = event
        else {
            return None;
        };
        Some(Self {
            key_id: *key_id,
            token: token.clone(),
            key_algorithm: *key_algorithm,
            signature_algorithm: *signature_algorithm,
            role: *role,
            policy: policy.clone(),
            life: Life::Pending,
            spki: Bytes::default(),
            ca_chain: Vec::new(),
            ca_certificate: None,
            verifier: OnceLock::new(),
            gate: Arc::default(),
        })
    }

    pub(super) fn created(&self, spki: &Bytes) -> Self {
        let verifier = OnceLock::new();
        Self { spki: spki.clone(), life: Life::Live, verifier, ..self.clone() }
    }

    pub(super) fn installed(&self, chain: &[Bytes]) -> Self {
        Self { ca_chain: chain.to_vec(), ..self.clone() }.with_certificate_read()
    }

    pub(super) fn now(&self, life: Life) -> Self {
        Self { life, ..self.clone() }
    }

    /// Reads the CA certificate from the chain. One that does not parse counts as none: the key
    /// then signs nothing, which is the safe side.
    pub(super) fn with_certificate_read(mut self) -> Self {
        self.ca_certificate = self
            .ca_chain
            .first()
            .and_then(|_| CaCertificate::from_chain(&self.ca_chain).ok())
            .map(Arc::new);
        self
    }

    /// DER of its SubjectPublicKeyInfo; empty while pending.
    #[must_use]
    pub fn spki(&self) -> &[u8] {
        self.spki.as_slice()
    }

    /// Verifies what it signed; none while pending, and where its SubjectPublicKeyInfo can't be read.
    #[must_use]
    pub fn verifier(&self) -> Option<Arc<Verifier>> {
        let make = || Verifier::new(self.spki(), self.signature_algorithm).ok().map(Arc::new);
        self.verifier.get_or_init(make).clone()
    }

    /// Its CA certificate, once one is installed.
    #[must_use]
    pub fn ca_certificate(&self) -> Option<&CaCertificate> {
        self.ca_certificate.as_deref()
    }

    /// DER of its CA certificate and of the CAs above it, own first; empty without one.
    #[must_use]
    pub fn ca_chain(&self) -> &[Bytes] {
        &self.ca_chain
    }

    /// Whether a private key of it is, or may be, on the token.
    #[must_use]
    pub fn is_on_token(&self) -> bool {
        self.life != Life::Destroyed
    }

    /// What policy has to know of it.
    #[must_use]
    pub fn issuing_key(&self) -> IssuingKey<'_> {
        IssuingKey {
            key_id: self.key_id,
            spki: self.spki(),
            signature_algorithm: self.signature_algorithm,
            policy: &self.policy,
            ca_certificate: self.ca_certificate(),
        }
    }

    /// What the API may see; nothing of a key that is pending or destroyed.
    #[must_use]
    pub fn summary(&self) -> Option<KeySummary> {
        let state = match self.life {
            Life::Live => KeyState::Live,
            Life::Disabled => KeyState::Disabled,
            Life::Destroying => KeyState::Destroyed,
            Life::Pending | Life::Destroyed => return None,
        };
        Some(KeySummary {
            key_id: self.key_id,
            token: self.token.clone(),
            key_algorithm: self.key_algorithm,
            signature_algorithm: self.signature_algorithm,
            role: self.role,
            state,
            has_ca_certificate: self.ca_certificate.is_some(),
            is_missing: false,
        })
    }

    pub(super) fn gate(&self) -> Arc<RwLock<()>> {
        Arc::clone(&self.gate)
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::encoding::{AsDer as _, PublicKeyX509Der};
    use aws_lc_rs::rand::SystemRandom;
    use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};

    use super::*;

    #[test]
    fn a_key_that_was_looked_at_while_pending_verifies_what_it_signs_once_it_is_made() {
        let pair = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
        let spki: PublicKeyX509Der<'_> = pair.public_key().as_der().unwrap();
        let pending = KeyRecord::pending(&crate::keyring::tests::pending()).unwrap();
        assert!(pending.verifier().is_none());

        let verifier = pending.created(&Bytes(spki.as_ref().to_vec())).verifier().unwrap();

        let signature = pair.sign(&SystemRandom::new(), b"message").unwrap();
        assert_eq!(verifier.verify(b"message", signature.as_ref()), Ok(()));
        assert!(verifier.verify(b"another", signature.as_ref()).is_err());
    }
}
