//! What the API may ask for.

use serde::{Deserialize, Serialize};

use crate::bytes::{Bytes, SecretBytes, SerialNonce};
use crate::id::{ApprovalId, KeyId};
use crate::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use crate::wire::policy::Policy;
use crate::wire::{Context, JournalHead};

/// A request on the API socket.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// First on each connection, and at any time to learn the state.
    Hello(Hello),
    /// Makes a CA key in a token.
    CreateCaKey(CreateCaKey),
    /// Signs a self-signed CA certificate and installs it.
    SignOwnCertificate(SignOwnCertificate),
    /// Signs a CA certificate below this key's.
    SignCaCertificate(SignCaCertificate),
    /// Signs an end-entity certificate.
    SignCertificate(SignCertificate),
    /// Installs a CA certificate that came from outside.
    InstallCaCertificate(InstallCaCertificate),
    /// `live` to `disabled`; answers once no signature of the key is in flight.
    DisableKey(KeyChange),
    /// `disabled` to `live`.
    EnableKey(KeyChange),
    /// `disabled` to `destroyed`: the private key leaves the token for good.
    DestroyKey(KeyChange),
    /// What became of a parked request.
    ApprovalStatus(ApprovalQuery),
    /// Encrypts a 32-byte data key under the token's seal key.
    Seal(Seal),
    /// Opens what `seal` made.
    Unseal(Unseal),
    /// Entries of the journal, as stored.
    ReadJournal(ReadJournal),
}

/// See [`Request::Hello`].
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Hello {
    /// The highest journal entry that the API knows of each signer.
    #[serde(default)]
    pub journal_heads: Vec<JournalHead>,
}

/// See [`Request::CreateCaKey`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateCaKey {
    /// Name of the token in `signer.toml`.
    pub token: String,
    /// Kind of key pair.
    pub key_algorithm: KeyAlgorithm,
    /// How the key will sign, for ever.
    pub signature_algorithm: SignatureAlgorithm,
    /// What the key is for.
    pub role: KeyRole,
    /// What it may sign; absent: the operator's ceiling as it stands now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Policy>,
    /// For the journal.
    pub context: Context,
}

/// What a key is for.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum KeyRole {
    /// Signs certificates and CRLs.
    Ca,
}

/// See [`Request::SignOwnCertificate`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignOwnCertificate {
    /// The key that signs, and is certified.
    pub key_id: KeyId,
    /// DER of the TBSCertificate.
    pub tbs: Bytes,
    /// What the serial was made from.
    pub serial_nonce: SerialNonce,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::SignCaCertificate`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignCaCertificate {
    /// The key that signs.
    pub key_id: KeyId,
    /// DER of the TBSCertificate.
    pub tbs: Bytes,
    /// DER of the CSR; absent where the certified key is one of this signer's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csr: Option<Bytes>,
    /// What the serial was made from.
    pub serial_nonce: SerialNonce,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::SignCertificate`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SignCertificate {
    /// The key that signs.
    pub key_id: KeyId,
    /// DER of the TBSCertificate.
    pub tbs: Bytes,
    /// DER of the CSR that proves possession of the certified key.
    pub csr: Bytes,
    /// What the serial was made from.
    pub serial_nonce: SerialNonce,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::InstallCaCertificate`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstallCaCertificate {
    /// The key that the first certificate certifies.
    pub key_id: KeyId,
    /// DER of the certificates, the key's own first, its issuer next, up to an anchor.
    pub chain: Vec<Bytes>,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::DisableKey`], [`Request::EnableKey`], [`Request::DestroyKey`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyChange {
    /// Which key.
    pub key_id: KeyId,
    /// One sentence for the journal, at most 1,024 characters.
    pub reason: String,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::ApprovalStatus`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalQuery {
    /// Which parked request.
    pub approval_id: ApprovalId,
}

/// See [`Request::Seal`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seal {
    /// Name of the token whose seal key is used.
    pub token: String,
    /// Exactly 32 bytes.
    pub bytes: SecretBytes,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::Unseal`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unseal {
    /// Name of the token whose seal key is used.
    pub token: String,
    /// What `seal` answered.
    pub blob: Bytes,
    /// For the journal.
    pub context: Context,
}

/// See [`Request::ReadJournal`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReadJournal {
    /// Entries above this number; 0 from the beginning.
    pub after: u64,
}
