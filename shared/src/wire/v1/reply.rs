//! What the signer answers.

use serde::{Deserialize, Serialize};

use super::KeyRole;
use crate::bytes::{Bytes, ConnectionNonce, SecretBytes};
use crate::id::{ApprovalId, KeyId, SignerId};
use crate::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use crate::wire::policy::Policy;
use crate::wire::{JournalHead, Refusal};

/// A reply on the API socket.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// To `hello`.
    Hello(Box<HelloReply>),
    /// To `create-ca-key`.
    KeyCreated(KeyCreated),
    /// To the three signing operations.
    Signed(Signed),
    /// To a signing or key operation that waits for the operator.
    Pending(Pending),
    /// To `install-ca-certificate`, `disable-key`, `enable-key`, `destroy-key`.
    KeyChanged(KeyChanged),
    /// To `approval-status`.
    Approval(ApprovalStatus),
    /// To `seal`.
    Sealed(Sealed),
    /// To `unseal`.
    Unsealed(Unsealed),
    /// To `read-journal`.
    Journal(JournalPart),
}

/// What the signer says of itself.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HelloReply {
    /// Which signer this is, for ever.
    pub signer_id: SignerId,
    /// A new one at each start.
    pub boot_id: String,
    /// New for each connection: the first 16 bytes of each serial nonce on it.
    pub connection_nonce: ConnectionNonce,
    /// Where its journal stands; absent where it lacks entries that were seen before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub journal_head: Option<JournalHead>,
    /// Why nothing can be signed at all at the moment; `null` where something can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<Refusal>,
    /// Each configured token.
    pub tokens: Vec<TokenSummary>,
    /// Each key of the keyring, destroyed ones excepted.
    pub keys: Vec<KeySummary>,
    /// What the operator allows at most.
    pub ceiling: Policy,
    /// Whether `destroy-key` waits for the operator (`destroy = approve`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub destroy_awaits_operator: bool,
}

/// A token as the API sees it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct TokenSummary {
    /// Its name in `signer.toml`.
    pub name: String,
    /// CK_TOKEN_INFO model, once known.
    pub model: String,
    /// CK_TOKEN_INFO serialNumber, once known.
    pub serial: String,
    /// Whether it signs.
    pub state: TokenState,
    /// One sentence where it does not.
    pub message: String,
    /// Kinds of key that it can make.
    pub key_algorithms: Vec<KeyAlgorithm>,
    /// Keys on it that are not destroyed.
    pub used_keys: u32,
    /// `max_keys`.
    pub max_keys: u32,
    /// Private keys on it that the keyring did not know at the signer's start.
    #[serde(default)]
    pub unknown_keys: u32,
}

/// Whether a token signs.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum TokenState {
    /// It signs.
    Ok,
    /// Its worker is being replaced or the token is being opened again.
    Recovering,
    /// It refused the PIN: nothing is tried until an operator acts.
    PinRefused,
    /// Module, slot or token is not there. It is looked for until it is.
    Absent,
}

/// A key as the API sees it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct KeySummary {
    /// Its id; the `CKA_ID` is the same bytes.
    pub key_id: KeyId,
    /// Name of the token that holds it.
    pub token: String,
    /// Kind of key pair.
    pub key_algorithm: KeyAlgorithm,
    /// How it signs.
    pub signature_algorithm: SignatureAlgorithm,
    /// What it is for.
    pub role: KeyRole,
    /// Whether it may sign.
    pub state: KeyState,
    /// Whether it has a CA certificate.
    pub has_ca_certificate: bool,
    /// Whether the token was found without the private key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_missing: bool,
}

/// Whether a key may sign.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum KeyState {
    /// It may.
    Live,
    /// Not now.
    Disabled,
    /// Never again: the private key is gone, or on its way.
    Destroyed,
}

/// See [`Reply::KeyCreated`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct KeyCreated {
    /// The new key.
    pub key_id: KeyId,
    /// DER of its SubjectPublicKeyInfo.
    pub spki: Bytes,
}

/// See [`Reply::Signed`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Signed {
    /// Content of the certificate's `signature` BIT STRING: for ECDSA the DER of Ecdsa-Sig-Value.
    pub signature: Bytes,
}

/// See [`Reply::Pending`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Pending {
    /// By which its fate can be asked.
    pub approval_id: ApprovalId,
}

/// See [`Reply::KeyChanged`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct KeyChanged {
    /// The key after the change.
    pub state: KeyState,
}

/// What became of a parked request.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalStatus {
    /// The operator has not decided.
    Waiting,
    /// Approved and done; the signature, where the request asked for one.
    Approved {
        /// As in [`Signed`].
        signature: Option<Bytes>,
    },
    /// The operator said no.
    Denied,
    /// No decision within the time.
    Expired,
}

/// See [`Reply::Sealed`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Sealed {
    /// Opens only through `unseal` on the same token.
    pub blob: Bytes,
}

/// See [`Reply::Unsealed`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Unsealed {
    /// The 32 bytes.
    pub bytes: SecretBytes,
}

/// See [`Reply::Journal`].
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct JournalPart {
    /// Each the exact JSON of a [`crate::wire::journal::Entry`] as stored, in order. Empty at the end.
    pub entries: Vec<String>,
}
