//! Every way in which a request can fail, and its code on the wire. The only such mapping.

mod class;

use std::time::Duration;

use chancery_shared::text;
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::{JournalHead, MAX_CONTEXT, MAX_DER, Refusal, RefusalCode};

use crate::approval::ApprovalError;
use crate::clock_guard::ClockJumped;
use crate::journal::JournalError;
use crate::keyring::Life;
use crate::policy::PolicyViolation;
use crate::token::TokenError;

/// Why a request is refused. Nothing has been signed for it, and nothing will be.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The bytes are no request of this version.
    #[error("the request is not well-formed: {0}")]
    Malformed(serde_json::Error),
    /// A version that is not spoken here.
    #[error("version {version} is not spoken here; version 1 is")]
    UnsupportedVersion {
        /// The version asked for.
        version: u32,
    },
    /// A part is larger than its limit.
    #[error("{part} has {length} bytes; at most {limit} are read")]
    TooLarge {
        /// Which part.
        part: &'static str,
        /// Its length, in bytes.
        length: usize,
        /// What would pass.
        limit: usize,
    },
    /// The request took too long; whatever it began is ended in the journal.
    #[error("the request was not served in time")]
    DeadlineExceeded,
    /// The operation's share of this time is used up.
    #[error("the limit on {what} is used up for now")]
    RateLimited {
        /// Of what.
        what: &'static str,
        /// When to come back.
        retry_after: Duration,
    },
    /// The key has signed as often in this minute as its budget allows.
    #[error("the key's signatures of this minute are used up")]
    OverBudget {
        /// When to come back.
        retry_after: Duration,
    },
    /// The API knows an entry that this journal lacks.
    #[error(
        "the journal lacks entry {} that was seen before: it was cut off or restored from an old \
         copy; nothing is signed until the operator says accept-journal", missing.seq
    )]
    JournalBehind {
        /// What is missing.
        missing: JournalHead,
    },
    /// A head that no journal which ends here can have had.
    #[error("entry {seq} is so far above the journal's end that it can't have been there")]
    ImplausibleHead {
        /// Its number.
        seq: u64,
    },
    /// See [`ClockJumped`].
    #[error("{0}; nothing is signed until it is right again or the operator says accept-clock")]
    ClockJumped(#[from] ClockJumped),
    /// The journal can't be written, be it at the start or now.
    #[error("the journal can't be written at the moment; nothing is signed until it can")]
    NotStarted,
    /// No token of that name is configured.
    #[error("there is no token of this name")]
    UnknownToken,
    /// No key has that id.
    #[error("there is no key of this id")]
    UnknownKey,
    /// The key is not in a state that allows this.
    #[error("the key is {}; it has to be {needed}", life_name(*.is))]
    KeyState {
        /// What it is.
        is: Life,
        /// What it would have to be.
        needed: &'static str,
    },
    /// The token has as many keys as it may, or the signer has.
    #[error("there are {max} keys, as many as there may be")]
    KeyLimit {
        /// How many.
        max: u32,
    },
    /// The key can't sign so.
    #[error("a key of this kind does not make signatures of this kind")]
    AlgorithmMismatch,
    /// The policy asked for is wider than the operator's ceiling.
    #[error("the policy goes beyond the operator's ceiling in {field}")]
    BeyondCeiling {
        /// Which field of [`Policy`].
        field: &'static str,
    },
    /// The operator's settings deny CA certificates.
    #[error("the operator does not let this signer certify CAs")]
    CaCertificatesDenied,
    /// The reason of a key change is missing or too long.
    #[error("a reason of 1 to 1024 characters has to be given")]
    BadReason,
    /// Only 32-byte data keys are sealed.
    #[error("only data keys of exactly 32 bytes are sealed")]
    NotADataKey,
    /// See [`PolicyViolation`].
    #[error("{0}")]
    Policy(#[from] PolicyViolation),
    /// See [`TokenError`].
    #[error("{0}")]
    Token(#[from] TokenError),
    /// See [`JournalError`].
    #[error("the journal can't be written; nothing is signed until it can")]
    Journal(#[from] JournalError),
    /// See [`ApprovalError`].
    #[error("{0}")]
    Approval(#[from] ApprovalError),
}

fn life_name(life: Life) -> &'static str {
    match life {
        Life::Pending => "being made",
        Life::Live => "live",
        Life::Disabled => "disabled",
        Life::Destroying | Life::Destroyed => "destroyed",
    }
}

impl RequestError {
    /// Refuses a part that is over its limit.
    ///
    /// # Errors
    ///
    /// It is.
    pub fn check_size(part: &'static str, length: usize, limit: usize) -> Result<(), Self> {
        if length > limit { Err(Self::TooLarge { part, length, limit }) } else { Ok(()) }
    }

    /// Refuses a TBS or CSR over [`MAX_DER`] and a context over [`MAX_CONTEXT`].
    ///
    /// # Errors
    ///
    /// Names the part.
    pub fn check_sizes(tbs: &[u8], csr: Option<&[u8]>, context: usize) -> Result<(), Self> {
        Self::check_size("the TBS", tbs.len(), MAX_DER)?;
        Self::check_size("the CSR", csr.map_or(0, <[u8]>::len), MAX_DER)?;
        Self::check_size("the context", context, MAX_CONTEXT)
    }

    /// Refuses a policy beyond the ceiling.
    ///
    /// # Errors
    ///
    /// Names the field.
    pub fn check_ceiling(policy: &Policy, ceiling: &Policy) -> Result<(), Self> {
        policy.beyond(ceiling).map_or(Ok(()), |field| Err(Self::BeyondCeiling { field }))
    }

    /// What goes over the wire.
    #[must_use]
    pub fn refusal(&self) -> Refusal {
        let (code, rule) = self.code_and_rule();
        let retry_after = match self {
            Self::RateLimited { retry_after, .. } | Self::OverBudget { retry_after } => {
                Some(*retry_after)
            }
            Self::Token(TokenError::Busy) => Some(Duration::from_millis(100)),
            _ => None,
        };
        Refusal {
            code,
            rule: rule.map(str::to_owned),
            // Some tell what they could not read: as much of that as a person reads.
            detail: text::plain(&self.to_string(), MAX_DETAIL),
            retry_after_ms: retry_after.map(|t| u32::try_from(t.as_millis()).unwrap_or(u32::MAX)),
        }
    }

    fn code_and_rule(&self) -> (RefusalCode, Option<&'static str>) {
        use RefusalCode as C;
        match self {
            Self::Malformed(_) => (C::Malformed, None),
            Self::UnsupportedVersion { .. } => (C::UnsupportedVersion, None),
            Self::TooLarge { .. } => (C::PolicyViolation, Some("request.size")),
            Self::DeadlineExceeded => (C::DeadlineExceeded, None),
            Self::OverBudget { .. } | Self::Approval(ApprovalError::Full) => (C::Busy, None),
            Self::RateLimited { .. } => (C::RateLimited, None),
            Self::JournalBehind { .. } => (C::JournalBehind, None),
            Self::ImplausibleHead { .. } => (C::PolicyViolation, Some("hello.journal-heads")),
            Self::ClockJumped(_) => (C::ClockJumped, None),
            Self::UnknownToken => (C::UnknownToken, None),
            Self::UnknownKey => (C::UnknownKey, None),
            Self::KeyState { .. } => (C::KeyState, None),
            Self::KeyLimit { .. } => (C::KeyLimit, None),
            Self::AlgorithmMismatch => (C::PolicyViolation, Some("key.algorithm")),
            Self::BeyondCeiling { .. } => (C::PolicyViolation, Some("policy.beyond-ceiling")),
            Self::CaCertificatesDenied => (C::PolicyViolation, Some("ca.denied")),
            Self::BadReason => (C::PolicyViolation, Some("request.reason")),
            Self::NotADataKey => (C::PolicyViolation, Some("seal.size")),
            Self::Policy(violation) => (C::PolicyViolation, Some(violation.rule())),
            Self::Token(error) => (token_code(error), None),
            Self::NotStarted | Self::Journal(_) => (C::JournalUnavailable, None),
            Self::Approval(ApprovalError::Io(_)) => (C::Internal, None),
            Self::Approval(ApprovalError::Unknown) => (C::UnknownApproval, None),
            Self::Approval(ApprovalError::Closed) => (C::ApprovalState, None),
        }
    }
}

/// A sentence has at most this many bytes.
const MAX_DETAIL: usize = 512;

fn token_code(error: &TokenError) -> RefusalCode {
    match error {
        TokenError::Busy => RefusalCode::Busy,
        TokenError::Unavailable => RefusalCode::TokenUnavailable,
        TokenError::DeadlineExceeded => RefusalCode::DeadlineExceeded,
        TokenError::PinRefused => RefusalCode::PinRefused,
        TokenError::KeyGone => RefusalCode::KeyGone,
        TokenError::SealBroken => RefusalCode::SealBroken,
        TokenError::KeyLimit { .. } => RefusalCode::KeyLimit,
        TokenError::Refused { .. }
        | TokenError::WrongAlgorithm
        | TokenError::WrongSignature
        | TokenError::NotADataKey
        | TokenError::BadPublicKey
        | TokenError::NoWorker => RefusalCode::Internal,
    }
}
