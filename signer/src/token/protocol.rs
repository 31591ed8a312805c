//! What the signer and its signing worker say to each other, in frames on a socketpair.
//!
//! Private: both ends are always the same program, so there is no version to agree on.

use std::path::PathBuf;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use serde::{Deserialize, Serialize};

use super::config::{Sandbox, SystemCalls};
use super::error::CkrName;
use super::secret::Secret;

/// Which token, and how to get at it. Part of the first frame to each worker.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Open {
    pub(super) module: PathBuf,
    pub(super) serial: Option<String>,
    pub(super) label: Option<String>,
    pub(super) pin: Secret,
    pub(super) folder: PathBuf,
    /// This token's own part of the state folder.
    pub(super) own_state: PathBuf,
    pub(super) sandbox: Sandbox,
    pub(super) system_calls: SystemCalls,
}

/// The first frame to a signing worker.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct StartSigning {
    pub(super) open: Open,
    pub(super) threads: usize,
}

/// Every later frame to a signing worker.
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Call {
    pub(super) id: u64,
    pub(super) operation: Operation,
}

/// A [`Call`] as the signer writes it: the operation is kept for a second try.
#[derive(Serialize)]
pub(super) struct CallOf<'a> {
    pub(super) id: u64,
    pub(super) operation: &'a Operation,
}

/// What a signing worker can be asked.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Operation {
    /// `data` is the digest for ECDSA, the whole message for every other algorithm.
    Sign {
        key_id: KeyId,
        algorithm: SignatureAlgorithm,
        data: Bytes,
    },
    /// Signs with the canary key: the token's health.
    Canary,
    Seal {
        iv: Bytes,
        secret: Secret,
    },
    Unseal {
        iv: Bytes,
        sealed: Bytes,
    },
    /// Opens the token again, so that new keys are seen and destroyed ones are not.
    NewEpoch,
    /// The PIN was refused elsewhere: this worker may not try it again.
    ForgetPin,
}

/// Every frame from a signing worker.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum FromSigningWorker {
    /// Always the first: the token is open, or why not.
    Opened(Result<Opened, OpenFailure>),
    /// To the call of this id.
    Answer { id: u64, result: Result<Output, CallFailure>, failures: Vec<CkrName> },
    /// The token was opened again.
    EpochBegun,
    /// This worker is of no more use. Calls without an answer get none.
    Lost { why: LostReason, failures: Vec<CkrName> },
}

/// What a worker found when it opened the token.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub(super) struct Opened {
    pub(super) facts: Facts,
    /// How far the worker is confined, one sentence.
    pub(super) sandbox: String,
}

/// What the token says of itself.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
pub(super) struct Facts {
    pub(super) model: String,
    pub(super) serial: String,
    pub(super) key_algorithms: Vec<KeyAlgorithm>,
}

/// What a call gave.
#[derive(Debug, Deserialize, Serialize)]
pub(super) enum Output {
    /// As the token returned it: r ‖ s for ECDSA.
    Signature(Bytes),
    Sealed(Bytes),
    Unsealed(Secret),
    Done,
}

/// Why one call failed although the token works.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub(super) enum CallFailure {
    Refused { ckr: CkrName },
    KeyGone,
    WrongAlgorithm,
}

/// Why a worker is of no more use.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, thiserror::Error)]
pub(super) enum LostReason {
    #[error("the token could not be opened again")]
    Reopen(#[source] OpenFailure),
    #[error("the token failed with {0}")]
    Device(CkrName),
}

/// Why a token is not open. The texts are shown in the status.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, thiserror::Error)]
pub(super) enum OpenFailure {
    #[error("the PKCS#11 module {} could not be loaded", .0.display())]
    Module(PathBuf),
    #[error("the token folder {} is not there", .0.display())]
    NoFolder(PathBuf),
    #[error("no slot holds the configured token")]
    NoToken,
    #[error("more than one slot holds a token of the configured label; configure its serial")]
    SeveralTokens,
    #[error("the token refused the PIN with {ckr}; change the PIN file or clear the refusal")]
    PinRefused { ckr: CkrName },
    #[error("the PIN was refused before and may not be tried again")]
    PinForgotten,
    #[error("the PIN is not UTF-8 text")]
    PinNotText,
    #[error("the token has no canary key; `chancery-hsm init` makes it")]
    NoCanary,
    #[error("the token's canary key does not sign: {ckr}")]
    CanaryFails { ckr: CkrName },
    #[error(
        "the kernel can't confine the worker (no Landlock); set sandbox = \"optional\" to go on \
         without"
    )]
    Sandbox,
    #[error("the worker could not {0}")]
    Hardening(HardeningStep),
    #[error("the worker's lock {} could not be taken", .0.display())]
    Lock(PathBuf),
    #[error("opening the token failed with {ckr}")]
    Call { ckr: CkrName },
}

/// What a worker does to itself before it loads the vendor's library.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, thiserror::Error)]
pub(super) enum HardeningStep {
    #[error("forbid core dumps")]
    CoreDumps,
    #[error("forbid other processes to look inside")]
    Dumpable,
    #[error("give up new privileges")]
    Privileges,
    #[error("ignore SIGINT and SIGTERM")]
    Signals,
    #[error("filter its system calls")]
    SystemCalls,
}

impl OpenFailure {
    /// The return value that says it.
    pub(super) fn ckr(&self) -> Option<&CkrName> {
        match self {
            Self::PinRefused { ckr } | Self::CanaryFails { ckr } | Self::Call { ckr } => Some(ckr),
            _ => None,
        }
    }

    /// Whether only another PIN or the operator can help.
    pub(super) fn is_about_the_pin(&self) -> bool {
        matches!(self, Self::PinRefused { .. } | Self::PinForgotten)
    }
}
