//! One request on its way to the signing worker and back.

use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::time::Instant;

use super::error::TokenError;
use super::protocol::{CallFailure, Operation, Output};

/// Requests that may wait for the token or be in flight; the next is told `busy`.
pub(super) const QUEUE: usize = 256;

/// What the supervisor is told.
pub(super) enum Message {
    /// Do this.
    Job(Job),
    /// Keys were made or destroyed: open the token again, then answer.
    NewEpoch(oneshot::Sender<()>),
    /// A key worker's PIN was refused: the signing worker may not try it either.
    PinRefusedElsewhere,
    /// The operator allows one more try.
    ClearPinRefusal(oneshot::Sender<()>),
    /// Drain and end.
    Stop(oneshot::Sender<()>),
}

/// A request that waits for its answer.
pub(super) struct Job {
    pub(super) operation: Operation,
    reply: oneshot::Sender<Result<Output, TokenError>>,
    /// Answered by then, whatever happens.
    pub(super) expires: Instant,
    /// Whether a worker was lost with it already.
    pub(super) was_lost: bool,
    /// Its place in the queue, given back when it is answered.
    _place: OwnedSemaphorePermit,
}

impl Job {
    pub(super) fn new(
        operation: Operation,
        deadline: Duration,
        place: OwnedSemaphorePermit,
    ) -> (Self, oneshot::Receiver<Result<Output, TokenError>>) {
        let (reply, answer) = oneshot::channel();
        // Once in a worker that hangs, once in its successor.
        let expires = Instant::now() + deadline.saturating_mul(2);
        (Self { operation, reply, expires, was_lost: false, _place: place }, answer)
    }

    /// Answers, if anyone still waits.
    pub(super) fn answer(self, result: Result<Output, TokenError>) {
        let _ = self.reply.send(result);
    }

    /// Whether the one who asked has gone.
    pub(super) fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }
}

impl From<CallFailure> for TokenError {
    fn from(failure: CallFailure) -> Self {
        match failure {
            CallFailure::Refused { ckr } => Self::Refused { ckr },
            CallFailure::KeyGone => Self::KeyGone,
            CallFailure::WrongAlgorithm => Self::WrongAlgorithm,
        }
    }
}
