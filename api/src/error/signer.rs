//! The signer's no, in the words of HTTP.

use std::time::Duration;

use chancery_shared::wire::{Refusal, RefusalCode};

use super::Code;

/// Why the signer did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum SignerFailure {
    /// It answered, and said no.
    #[error("{}", .0.detail)]
    Refused(Refusal),
    /// It can't be reached, or the connection broke before the answer. What was asked may have
    /// been done: reconciliation finds out.
    #[error("the signer can't be reached")]
    Unreachable(#[source] std::io::Error),
}

impl SignerFailure {
    /// No wildcard: a new refusal does not compile until someone decides what clients see.
    pub(super) fn code(&self) -> Code {
        let Self::Refused(refusal) = self else { return Code::SignerUnavailable };
        match refusal.code {
            RefusalCode::Busy | RefusalCode::RateLimited | RefusalCode::DeadlineExceeded => {
                Code::SignerBusy
            }
            RefusalCode::JournalUnavailable => Code::JournalUnavailable,
            RefusalCode::JournalBehind => Code::JournalBehind,
            RefusalCode::ClockJumped => Code::ClockJumped,
            RefusalCode::TokenUnavailable => Code::TokenUnavailable,
            RefusalCode::PinRefused => Code::TokenPinRefused,
            RefusalCode::UnknownToken => Code::UnknownToken,
            RefusalCode::UnknownKey | RefusalCode::KeyState => Code::CaNotLive,
            RefusalCode::KeyGone => Code::KeyGone,
            RefusalCode::KeyLimit => Code::KeyLimit,
            RefusalCode::PolicyViolation => Code::PolicyViolation,
            RefusalCode::UnknownApproval => Code::NotFound,
            RefusalCode::ApprovalState => Code::WrongState,
            // A signer of another version is as good as none until it is updated.
            RefusalCode::UnsupportedVersion => Code::SignerUnavailable,
            RefusalCode::Malformed | RefusalCode::SealBroken | RefusalCode::Internal => {
                Code::Internal
            }
        }
    }

    /// The sentence for the client. Of a fault it gets no detail.
    pub(super) fn message(&self) -> String {
        match (self, self.code()) {
            (_, Code::Internal) => super::INTERNAL.to_owned(),
            (Self::Unreachable(_), _) => "signing is not available: the signer can't be reached; \
                                          the same request may be sent again"
                .to_owned(),
            (Self::Refused(refusal), Code::PolicyViolation) => match &refusal.rule {
                Some(rule) => {
                    format!("the signer's policy forbids it ({rule}): {}", refusal.detail)
                }
                None => format!("the signer's policy forbids it: {}", refusal.detail),
            },
            (Self::Refused(refusal), _) => refusal.detail.clone(),
        }
    }

    /// When the signer said to come back.
    pub(super) fn retry_after(&self) -> Option<Duration> {
        let Self::Refused(refusal) = self else { return None };
        refusal.retry_after_ms.map(|ms| Duration::from_millis(ms.into()))
    }
}
