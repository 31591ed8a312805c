//! The operator socket: what the operator may see and decide. Never a signature over bytes.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::JournalHead;
use super::refusal::Refusal;
use super::v1::{ApprovalStatus, KeySummary, TokenSummary};
use crate::bytes::Bytes;
use crate::id::{ApprovalId, KeyId, SignerId};

/// A request on the operator socket, in the same envelope as on the API socket.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// How the signer is.
    Status(Nothing),
    /// What waits for a decision, in short.
    Pending(Nothing),
    /// One parked request, whole.
    Show(Decision),
    /// Lets a parked request pass; the signer does it at once.
    Approve(Decision),
    /// Ends a parked request.
    Deny(Decision),
    /// Signs again although entries that the API knows are missing.
    AcceptJournal(Nothing),
    /// Takes the clock as it is now for right.
    AcceptClock(Nothing),
    /// Tries the PIN of a token again.
    ClearPinRefusal(TokenName),
}

/// No parameters.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Which parked request.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Decision {
    /// As `pending` shows it.
    pub approval_id: ApprovalId,
}

/// Which token.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenName {
    /// Its name in `signer.toml`.
    pub token: String,
}

/// A reply on the operator socket.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// To `status`.
    Status(Box<Status>),
    /// To `pending`: as many as wait, since no more may wait than fit into a frame.
    Pending(Vec<Parked>),
    /// To `show`.
    Shown(Box<Shown>),
    /// To `approve`: done; the signature, where the request asked for one.
    Approved {
        /// Content of the BIT STRING.
        signature: Option<Bytes>,
    },
    /// To everything else: it is so.
    Accepted(Nothing),
}

/// How the signer is.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Which signer.
    pub signer_id: SignerId,
    /// New at each start.
    pub boot_id: String,
    /// Of the program.
    pub version: String,
    /// When it started.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    /// Where its journal stands.
    pub journal_head: JournalHead,
    /// What was written to the journal since the start.
    pub journal: JournalCounts,
    /// Why nothing can be signed at all; `null` where something can.
    pub halted: Option<Refusal>,
    /// How far the processes are confined, one sentence each.
    pub sandbox: Vec<String>,
    /// Each token.
    pub tokens: Vec<TokenStatus>,
    /// Each key of the keyring.
    pub keys: Vec<KeySummary>,
    /// Parked requests that wait.
    pub pending: u32,
    /// Files of parked requests that could not be read at the start; the log names them.
    pub unreadable_approvals: u32,
    /// Refusals since the start.
    pub refusals: u64,
}

/// What was written to the journal.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct JournalCounts {
    /// Entries on disk.
    pub entries: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Groups of entries, each with one write and one sync.
    pub syncs: u64,
    /// Groups that the disk refused.
    pub failures: u64,
}

/// A token with its workers' counters since the signer's start.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TokenStatus {
    /// As the API sees it.
    #[serde(flatten)]
    pub summary: TokenSummary,
    /// C_Sign calls with a CA key that gave a signature.
    pub signatures: u64,
    /// C_Sign calls with the canary key that gave a signature.
    pub canary_signatures: u64,
    /// Signatures over the fixed text with which a new key is tried.
    pub trial_signatures: u64,
    /// Calls that failed, by CKR name.
    pub failures: std::collections::BTreeMap<String, u64>,
    /// Signing workers that were started.
    pub workers_started: u64,
    /// Token epochs that were begun.
    pub epochs: u64,
    /// Process id of the signing worker, where there is one.
    pub worker_pid: Option<u32>,
    /// The first of the private keys on it that the keyring did not know at the signer's start.
    #[serde(default)]
    pub unknown_objects: Vec<UnknownObject>,
}

/// A private key on a token that is not in the keyring.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct UnknownObject {
    /// `CKA_ID` in hexadecimal.
    pub id: String,
    /// `CKA_LABEL`.
    pub label: String,
}

/// A parked request in short: what a list has room for.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Parked {
    /// By which it is decided.
    pub approval_id: ApprovalId,
    /// Name of the operation.
    pub operation: String,
    /// The key that is asked for.
    pub key_id: KeyId,
    /// When it was parked.
    #[serde(with = "time::serde::rfc3339")]
    pub parked_at: OffsetDateTime,
    /// When it expires.
    #[serde(with = "time::serde::rfc3339")]
    pub expires_at: OffsetDateTime,
    /// What would be done, in words; a long subject is cut.
    pub summary: String,
}

/// A parked request, whole.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Shown {
    /// As `pending` has it.
    #[serde(flatten)]
    pub parked: Parked,
    /// What became of it.
    pub status: ApprovalStatus,
    /// What the API asked for: what is done once it is approved.
    pub request: super::v1::Request,
}
