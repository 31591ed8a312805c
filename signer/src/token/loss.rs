//! How a signing worker was lost.

use super::error::CkrName;
use super::protocol::{LostReason, OpenFailure};

/// The texts are shown in the status.
#[derive(Debug, thiserror::Error)]
pub(super) enum Loss {
    /// The worker itself said that it is of no more use.
    #[error("{}", in_words(.0))]
    Said(LostReason),
    #[error("the signing worker ended")]
    Ended,
    #[error("the signing worker did not answer in time")]
    Hung,
    #[error("the token refused to sign with its canary key")]
    CanaryRefused,
}

impl Loss {
    /// The return value that stopped the worker from opening the token again.
    pub(super) fn ckr(&self) -> Option<&CkrName> {
        match self {
            Self::Said(LostReason::Reopen(failure)) => failure.ckr(),
            _ => None,
        }
    }

    /// Why only another PIN or the operator can help, where that is so.
    pub(super) fn pin_refusal(self) -> Option<OpenFailure> {
        match self {
            Self::Said(LostReason::Reopen(failure)) if failure.is_about_the_pin() => Some(failure),
            _ => None,
        }
    }
}

fn in_words(reason: &LostReason) -> String {
    match reason {
        LostReason::Reopen(failure) => format!("{reason}: {failure}"),
        LostReason::Device(_) => reason.to_string(),
    }
}
