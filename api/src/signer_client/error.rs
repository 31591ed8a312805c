//! What can become of a question to the signer, sorted by what the caller should do next.

use chancery_shared::wire::Refusal;

/// A question without the answer that was wished for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignerError {
    /// There is no signer to ask. Nothing was sent.
    #[error("the signer can't be reached")]
    Unreachable,
    /// As many requests are in flight as the signer serves. Nothing was sent.
    #[error("too many requests are waiting for the signer")]
    Busy,
    /// The connection ended before the request left. Nothing was sent: draft again with a new
    /// serial nonce, for the nonce of the old connection is worth nothing on the next.
    #[error("the connection to the signer ended before the request was sent")]
    RetryDraft,
    /// The request has more bytes than a frame may have. Nothing was sent.
    #[error("the request to the signer is too long")]
    TooLong,
    /// The signer said no.
    #[error("the signer refused: {}", .0.detail)]
    Refused(Refusal),
    /// The connection ended after the request had left. It may have been served: reconciliation
    /// will find what was signed.
    #[error("the connection to the signer ended before its answer came")]
    LostAfterSending,
    /// No answer came in time. The request may have been served, as above.
    #[error("the signer did not answer in time")]
    Deadline,
    /// The answer is not one to this question. The request may have been served, as above.
    #[error("the signer's answer can't be understood")]
    Protocol,
}

impl SignerError {
    /// Whether the signer may have done what was asked.
    #[must_use]
    pub fn outcome_is_unknown(&self) -> bool {
        match self {
            Self::LostAfterSending | Self::Deadline | Self::Protocol => true,
            Self::Unreachable
            | Self::Busy
            | Self::RetryDraft
            | Self::TooLong
            | Self::Refused(_) => false,
        }
    }
}
