//! One method per operation of the signer, and what they have in common.

mod keys;
mod reading;
mod sealing;
mod signing;

use chancery_shared::wire::v1::{Reply, Request};
use chancery_shared::wire::{JournalHead, Outcome, RefusalCode};

use super::SignerClient;
use super::connection::Answer;
use super::error::SignerError;
use super::serial::ConnectionHandle;

pub use keys::KeyChanging;
pub use signing::Signing;

/// How often a request that did not leave is tried on the next connection.
const ATTEMPTS: usize = 3;

/// An answer of the signer with the journal's head after it, which is stored with the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Journaled<T> {
    /// The answer.
    pub value: T,
    /// Where the signer's journal stood when it answered; absent where nothing was written.
    pub head: Option<JournalHead>,
}

impl Journaled<Reply> {
    /// The answer as the one shape that the operation has.
    fn expect<T>(
        self,
        choose: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<Journaled<T>, SignerError> {
        let value = choose(self.value).ok_or(SignerError::Protocol)?;
        Ok(Journaled { value, head: self.head })
    }
}

impl SignerClient {
    /// Asks on whichever connection there is, and on the next where the request did not leave.
    async fn ask(&self, request: Request) -> Result<Journaled<Reply>, SignerError> {
        for _ in 0..ATTEMPTS {
            let connection = self.connection().await?;
            match self.outcome(connection.ask(&request, &self.shared.options).await) {
                Err(SignerError::RetryDraft) => {}
                outcome => return outcome,
            }
        }
        Err(SignerError::Unreachable)
    }

    async fn ask_on(
        &self,
        on: ConnectionHandle,
        request: Request,
    ) -> Result<Journaled<Reply>, SignerError> {
        self.outcome(on.0.ask(&request, &self.shared.options).await)
    }

    /// Turns refusals into errors, and looks again at a signer whose state may have changed.
    fn outcome(&self, answer: Answer) -> Result<Journaled<Reply>, SignerError> {
        match answer? {
            (head, Outcome::Done(reply)) => {
                if matches!(reply, Reply::KeyCreated(_) | Reply::KeyChanged(_)) {
                    self.shared.refresh.notify_one();
                }
                Ok(Journaled { value: reply, head })
            }
            (_, Outcome::Refused(refusal)) => {
                if speaks_of_the_state(refusal.code) {
                    self.shared.refresh.notify_one();
                }
                Err(SignerError::Refused(refusal))
            }
        }
    }
}

/// Whether the code says that tokens, keys or journal are not as the snapshot has them.
fn speaks_of_the_state(code: RefusalCode) -> bool {
    use RefusalCode as C;
    match code {
        C::JournalUnavailable
        | C::JournalBehind
        | C::ClockJumped
        | C::TokenUnavailable
        | C::PinRefused
        | C::UnknownToken
        | C::UnknownKey
        | C::KeyState
        | C::KeyGone
        | C::KeyLimit => true,
        C::Malformed
        | C::UnsupportedVersion
        | C::Busy
        | C::RateLimited
        | C::DeadlineExceeded
        | C::PolicyViolation
        | C::UnknownApproval
        | C::ApprovalState
        | C::SealBroken
        | C::Internal => false,
    }
}
