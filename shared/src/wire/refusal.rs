//! Why the signer said no: one list of codes for both processes.

use serde::{Deserialize, Serialize};

/// The signer's no: what kind, by which rule, and in words.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Refusal {
    /// What the client can do about it.
    pub code: RefusalCode,
    /// The rule that was broken, such as `tbs.issuer`; of `policy-violation` and `malformed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// One sentence for a person: what was refused, why, and what would pass.
    pub detail: String,
    /// When asking again makes sense, in milliseconds; of `busy` and `rate-limited`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u32>,
}

/// The stable codes. Frozen: a code is never reused for something else.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "kebab-case")]
pub enum RefusalCode {
    /// The frame or its request could not be understood; the connection ends.
    Malformed,
    /// A version that this signer does not speak.
    UnsupportedVersion,
    /// Too much at once: ask again after the hint.
    Busy,
    /// A limit on this kind of operation is used up: ask again after the hint.
    RateLimited,
    /// The request could not be served in time; nothing was signed.
    DeadlineExceeded,
    /// The journal can't be written, so nothing may be signed. It goes on by itself.
    JournalUnavailable,
    /// The journal lacks an entry that the API knows: signs nothing until `accept-journal`.
    JournalBehind,
    /// The clock jumped: signs nothing until it is right again or `accept-clock`.
    ClockJumped,
    /// The token is away or being brought back. It goes on by itself.
    TokenUnavailable,
    /// The token refused the PIN: an operator must act.
    PinRefused,
    /// There is no token of this name.
    UnknownToken,
    /// There is no key of this id.
    UnknownKey,
    /// The key is in a state that does not allow this.
    KeyState,
    /// The keyring knows the key, the token does not: an operator must act.
    KeyGone,
    /// The token holds as many keys as it may.
    KeyLimit,
    /// The request breaks a rule of the key's policy; asking again changes nothing.
    PolicyViolation,
    /// There is no such approval.
    UnknownApproval,
    /// The approval was decided before, or is no longer open.
    ApprovalState,
    /// The sealed bytes do not open.
    SealBroken,
    /// A fault of the signer's own, written to its log.
    Internal,
}
