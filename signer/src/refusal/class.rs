//! What follows from a refusal: for the alarm, for an approval, for the journal.

use chancery_shared::wire::RefusalCode as C;

use super::RequestError;
use crate::journal::JournalError;

impl RequestError {
    /// Whether the refusal is about what was asked, not about the signer's state: a burst of those
    /// is an alarm, since a taken-over API shows itself by them.
    #[must_use]
    pub fn is_about_the_request(&self) -> bool {
        match self.code_and_rule().0 {
            C::Malformed
            | C::UnsupportedVersion
            | C::PolicyViolation
            | C::KeyState
            | C::UnknownKey
            | C::UnknownToken
            | C::KeyLimit
            | C::RateLimited
            | C::SealBroken
            | C::UnknownApproval
            | C::ApprovalState => true,
            C::Busy
            | C::DeadlineExceeded
            | C::JournalUnavailable
            | C::JournalBehind
            | C::ClockJumped
            | C::TokenUnavailable
            | C::PinRefused
            | C::KeyGone
            | C::Internal => false,
        }
    }

    /// Whether the same request may well pass later, because the reason is the signer's state: an
    /// approval is not used up by it.
    #[must_use]
    pub fn passes_by_itself(&self) -> bool {
        match self.code_and_rule().0 {
            C::Busy
            | C::RateLimited
            | C::DeadlineExceeded
            | C::JournalUnavailable
            | C::JournalBehind
            | C::ClockJumped
            | C::TokenUnavailable
            | C::PinRefused
            | C::KeyGone => true,
            C::Malformed
            | C::UnsupportedVersion
            | C::UnknownToken
            | C::UnknownKey
            | C::KeyState
            | C::KeyLimit
            | C::PolicyViolation
            | C::UnknownApproval
            | C::ApprovalState
            | C::SealBroken
            | C::Internal => false,
        }
    }

    /// Whether nobody knows if the journal's last entries are on disk.
    #[must_use]
    pub fn leaves_journal_uncertain(&self) -> bool {
        matches!(self, Self::Journal(JournalError::SyncFailed))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chancery_shared::wire::v1::Hello;

    use super::*;
    use crate::token::TokenError;

    #[test]
    fn an_approval_outlives_a_spent_budget_and_a_busy_or_absent_token() {
        let retry_after = Duration::from_secs(1);
        for error in [
            RequestError::OverBudget { retry_after },
            RequestError::RateLimited { what: "key changes", retry_after },
            RequestError::Token(TokenError::Busy),
            RequestError::Token(TokenError::Unavailable),
            RequestError::Token(TokenError::DeadlineExceeded),
            RequestError::Token(TokenError::PinRefused),
            RequestError::NotStarted,
        ] {
            assert!(error.passes_by_itself(), "{error}");
        }
        assert!(!RequestError::CaCertificatesDenied.passes_by_itself());
        assert!(!RequestError::UnknownKey.passes_by_itself());
    }

    #[test]
    fn what_could_not_be_read_is_not_repeated_at_length() {
        let name = r"\u001b".repeat(10_000);
        let error = serde_json::from_str::<Hello>(&format!(r#"{{"{name}":1}}"#));

        let refusal = RequestError::Malformed(error.unwrap_err()).refusal();

        assert!(refusal.detail.len() <= 512, "{} bytes", refusal.detail.len());
        assert!(!refusal.detail.contains('\u{1b}'));
    }
}
