//! The signer's no, in the words of HTTP.

use std::time::Duration;

use chancery_shared::wire::RefusalCode;

use super::Code;
use crate::echo::cut_to;
use crate::signer_client::SignerError;

/// No wildcard: a new refusal does not compile until someone decides what clients see.
pub(super) fn code(error: &SignerError) -> Code {
    let refusal = match error {
        SignerError::Refused(refusal) => refusal,
        SignerError::Unreachable | SignerError::RetryDraft => return Code::SignerUnavailable,
        SignerError::Busy => return Code::SignerBusy,
        SignerError::TooLong => return Code::BodyTooLarge,
        SignerError::LostAfterSending | SignerError::Deadline | SignerError::Protocol => {
            return Code::OutcomeUnknown;
        }
    };
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
        RefusalCode::Malformed | RefusalCode::SealBroken | RefusalCode::Internal => Code::Internal,
    }
}

/// The sentence for the client. Of a fault it gets no detail.
pub(super) fn message(error: &SignerError) -> String {
    match (error, code(error)) {
        (_, Code::Internal) => super::INTERNAL.to_owned(),
        (_, Code::OutcomeUnknown) => {
            "the signer did not answer in time; if it signed, the certificate appears by itself \
             within minutes, so look before you ask again"
                .to_owned()
        }
        (SignerError::Refused(refusal), Code::PolicyViolation) => {
            // It may repeat a name of the request, however long.
            let detail = cut_to(&refusal.detail, 500);
            match &refusal.rule {
                Some(rule) => format!("the signer's policy forbids it ({rule}): {detail}"),
                None => format!("the signer's policy forbids it: {detail}"),
            }
        }
        // The signer's own words may name its files; they are for its operator.
        (_, Code::TokenUnavailable) => {
            "the token is away or being opened again; signing goes on by itself when it is back"
                .to_owned()
        }
        (_, Code::TokenPinRefused) => {
            "the token refused the PIN; an operator must put it right, see chancery-hsm status"
                .to_owned()
        }
        (_, Code::KeyGone) => {
            "the CA's key is not in the token; an operator must restore it".to_owned()
        }
        (_, Code::JournalUnavailable) => {
            "the signer's journal can't be written; signing goes on by itself when it can"
                .to_owned()
        }
        (SignerError::Refused(refusal), _) => refusal.detail.clone(),
        (_, Code::SignerUnavailable) => {
            "signing is not available: the signer can't be reached; the same request may be sent \
             again"
                .to_owned()
        }
        (error, _) => error.to_string(),
    }
}

/// The same where nothing was to be signed: what was not answered may be asked again.
pub(super) fn code_of_reading(error: &SignerError) -> Code {
    match code(error) {
        Code::OutcomeUnknown => Code::SignerUnavailable,
        code => code,
    }
}

/// The sentence for a client who wants a kept private key.
pub(super) fn message_of_reading(error: &SignerError) -> String {
    let why = match code_of_reading(error) {
        Code::SignerUnavailable => "the signer can't be reached or does not answer",
        Code::SignerBusy => "the signer has too much to do",
        Code::TokenUnavailable => "the token is away or being opened again",
        Code::TokenPinRefused => "the token refused the PIN",
        Code::JournalUnavailable => "the signer's journal can't be written",
        Code::JournalBehind => "the signer's journal lacks entries",
        Code::ClockJumped => "the signer's clock jumped",
        _ => return message(error),
    };
    format!(
        "the private key is kept but can't be opened now, because {why}; the same request may be \
         sent again"
    )
}

/// When the signer said to come back.
pub(super) fn retry_after(error: &SignerError) -> Option<Duration> {
    let SignerError::Refused(refusal) = error else { return None };
    refusal.retry_after_ms.map(|ms| Duration::from_millis(ms.into()))
}
