//! Entries of the signer's journal, as the signer stores them and the API reads them.
//!
//! Stored for ever: a field is never renamed, removed or given another meaning; a new event is a
//! new variant.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use super::policy::Policy;
use super::refusal::RefusalCode;
use super::v1::KeyRole;
use super::{Context, JournalHead};
use crate::bytes::{Bytes, Hash, SerialNonce};
use crate::id::{ApprovalId, KeyId, SignerId};

/// One record's body. Its hash is SHA-256 over these bytes of JSON, exactly as stored.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
pub struct Entry {
    /// From 1, without gaps but those that the operator accepted: there a segment begins above the
    /// missing head that its second entry, a `journal-accepted`, names.
    pub seq: u64,
    /// The signer's wall clock, UTC.
    #[serde(with = "time::serde::rfc3339")]
    pub time: OffsetDateTime,
    /// Hash of the entry before; zeros for the first.
    pub prev: Hash,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Event {
    /// The signer started.
    Started {
        /// Which signer.
        signer_id: SignerId,
        /// New at each start.
        boot_id: String,
        /// Of the program.
        version: String,
    },
    /// First entry of each segment but the first: what a start must know of earlier ones.
    SegmentOpened {
        /// Which signer.
        signer_id: SignerId,
        /// Intents without an outcome so far.
        open_intents: Vec<u64>,
        /// The last entry that changed the keyring, 0 for none.
        last_keyring_change: u64,
        /// Entries between this number and the segment's first are lost, as the next entry says;
        /// absent where none are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost_after: Option<u64>,
    },
    /// A torn record at the end was cut off at start.
    TornTailCut {
        /// How many bytes.
        bytes: u64,
    },
    /// A key is about to be made; until `key-created` it may be cleaned up.
    KeyPending {
        /// The new key.
        key_id: KeyId,
        /// Where.
        token: String,
        /// Kind of key pair.
        key_algorithm: KeyAlgorithm,
        /// How it will sign.
        signature_algorithm: SignatureAlgorithm,
        /// What for.
        role: KeyRole,
        /// Its pinned policy.
        policy: Policy,
        /// Of the request.
        context: Context,
    },
    /// The key is made, tried and on disk.
    KeyCreated {
        /// Which.
        key_id: KeyId,
        /// DER of its SubjectPublicKeyInfo.
        spki: Bytes,
    },
    /// The pending key was not made, or was removed again.
    KeyCreationFailed {
        /// Which.
        key_id: KeyId,
        /// Why.
        reason: String,
    },
    /// The key has a CA certificate from now on.
    CaCertificateInstalled {
        /// Which key.
        key_id: KeyId,
        /// DER; the key's own first.
        chain: Vec<Bytes>,
        /// Of the request.
        context: Context,
    },
    /// This TBS is to be signed. Nothing is signed without this entry.
    Intent(Box<Intent>),
    /// The intent has its signature.
    Signed {
        /// Number of the intent's entry.
        intent: u64,
        /// Who signed.
        key_id: KeyId,
        /// Lower-case hexadecimal.
        serial_number: String,
        /// Content of the BIT STRING.
        signature: Bytes,
    },
    /// The intent ended without a signature leaving the signer.
    Abandoned {
        /// Number of the intent's entry.
        intent: u64,
        /// Why.
        reason: String,
    },
    /// The signer said no.
    Refused {
        /// Name of the operation.
        operation: String,
        /// Which key was asked for, where one was.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key_id: Option<KeyId>,
        /// As answered.
        code: RefusalCode,
        /// As answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// As answered.
        detail: String,
        /// SHA-256 of the TBS, where there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tbs_hash: Option<Hash>,
        /// Of the request.
        context: Context,
    },
    /// So many refusals since the last such entry, or since the start, have no `refused`: there
    /// were too many of their kind.
    RefusalsOmitted {
        /// How many.
        count: u64,
    },
    /// `live` to `disabled`.
    KeyDisabled(KeyEvent),
    /// `disabled` to `live`.
    KeyEnabled(KeyEvent),
    /// The key will be destroyed in the token; it can't come back from here.
    KeyDestroying(KeyEvent),
    /// The private key has left the token.
    KeyDestroyed {
        /// Which.
        key_id: KeyId,
    },
    /// A request waits for the operator.
    Parked {
        /// By which it is decided.
        approval_id: ApprovalId,
        /// Name of the operation.
        operation: String,
        /// The key that is asked for.
        key_id: KeyId,
        /// SHA-256 of the TBS, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tbs_hash: Option<Hash>,
        /// Of the request.
        context: Context,
    },
    /// The operator said yes.
    Approved {
        /// To what.
        approval_id: ApprovalId,
        /// The operator's Unix user id.
        operator_uid: u32,
    },
    /// The operator said no.
    Denied {
        /// To what.
        approval_id: ApprovalId,
        /// The operator's Unix user id.
        operator_uid: u32,
    },
    /// A data key was sealed.
    Sealed {
        /// Which token.
        token: String,
        /// SHA-256 of the blob.
        blob_hash: Hash,
        /// Of the request.
        context: Context,
    },
    /// A data key was opened.
    Unsealed {
        /// Which token.
        token: String,
        /// SHA-256 of the blob.
        blob_hash: Hash,
        /// Of the request.
        context: Context,
    },
    /// The operator accepts that entries known to the API are missing. The missing head counts as
    /// known from here on, and no later entry has a number at or below it.
    JournalAccepted {
        /// The head that the API knows and this journal lacks.
        missing: JournalHead,
        /// The operator's Unix user id.
        operator_uid: u32,
    },
    /// The clock that jumped is the reference from now on.
    ClockAccepted {
        /// What the clock should have shown.
        #[serde(with = "time::serde::rfc3339")]
        expected: OffsetDateTime,
        /// What it shows.
        #[serde(with = "time::serde::rfc3339")]
        accepted: OffsetDateTime,
        /// The operator's Unix user id; absent where the kernel vouches for the clock.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operator_uid: Option<u32>,
    },
    /// The operator says that the PIN may be tried again.
    PinRefusalCleared {
        /// For which token.
        token: String,
        /// The operator's Unix user id.
        operator_uid: u32,
    },
}

/// Everything needed to make the certificate's record without the API's memory.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// Name of the operation.
    pub operation: String,
    /// The key that is to sign.
    pub key_id: KeyId,
    /// DER of the TBSCertificate, whole.
    pub tbs: Bytes,
    /// DER of the CSR, whole, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csr: Option<Bytes>,
    /// What the serial was made from.
    pub serial_nonce: SerialNonce,
    /// The decision that let it pass, where one was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<ApprovalId>,
    /// Of the request.
    pub context: Context,
}

/// A change of a key's state.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct KeyEvent {
    /// Which key.
    pub key_id: KeyId,
    /// Why, as the request has it.
    pub reason: String,
    /// Of the request.
    pub context: Context,
}
