//! What the signer and a key worker say to each other: one frame there, one frame back.

use std::path::PathBuf;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::operator::UnknownObject;
use serde::{Deserialize, Serialize};

use super::error::CkrName;
use super::protocol::{Facts, Open, OpenFailure};
use super::secret::Secret;

/// The one frame to a key worker.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct KeyTask {
    pub(super) open: Open,
    pub(super) action: KeyAction,
}

/// What a key worker does before it ends.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum KeyAction {
    Create {
        key_id: KeyId,
        key_algorithm: KeyAlgorithm,
        signature_algorithm: SignatureAlgorithm,
        max_keys: u32,
    },
    Destroy {
        key_id: KeyId,
    },
    Sweep {
        pending: Vec<KeyId>,
        known: Vec<KeyId>,
    },
    /// `open.pin` is the user PIN to be set; `open.label` the new token's label.
    Initialise {
        so_pin: Secret,
    },
}

/// The one frame from a key worker.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct KeyAnswer {
    pub(super) result: Result<KeyOutput, KeyFailure>,
    /// Signatures over the fixed text that were made.
    pub(super) trial_signatures: u64,
    pub(super) failures: Vec<CkrName>,
}

/// What a key worker did.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum KeyOutput {
    /// DER of the SubjectPublicKeyInfo.
    Created(Bytes),
    Destroyed,
    Swept(SweepReport),
    Initialised(Facts),
}

/// What the start-up cleaning found on a token.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub struct SweepReport {
    /// Pending keys of which something was on the token, now destroyed.
    pub destroyed: Vec<KeyId>,
    /// Private keys that no one knows: `CKA_ID` in hexadecimal and `CKA_LABEL`.
    pub unknown: Vec<UnknownObject>,
    /// Keys that the keyring knows and the token does not hold.
    pub missing: Vec<KeyId>,
    /// Files of the token folder that are empty: what a killed writer leaves.
    pub empty_files: Vec<PathBuf>,
}

/// Why a key worker did not do it.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, thiserror::Error)]
pub(super) enum KeyFailure {
    #[error("the token is not open")]
    Open(#[source] OpenFailure),
    #[error("the token refused with {ckr}")]
    Refused { ckr: CkrName },
    /// The next key worker, whose view of the token is a new one, may do better.
    #[error("the token failed with {ckr}")]
    Failed { ckr: CkrName },
    #[error("the token holds {max} keys and may hold no more")]
    KeyLimit { max: u32 },
    #[error("the key makes no such signature")]
    WrongAlgorithm,
    #[error("the new key's public half is not of the kind asked for")]
    BadPublicKey,
    #[error("the new key's trial signature does not verify")]
    WrongSignature,
    #[error("the token's files could not be {0}")]
    Files(FileStep),
    #[error("a token of this label is there already")]
    TokenExists,
    #[error("no slot takes a new token")]
    NoFreeSlot,
}

/// What a key worker does with the token's files.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, thiserror::Error)]
pub(super) enum FileStep {
    #[error("locked")]
    Lock,
    #[error("restored from their copies")]
    Restore,
    #[error("copied aside")]
    Copy,
    #[error("written to the disk")]
    Sync,
    #[error("read")]
    Read,
}
