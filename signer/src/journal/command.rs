//! What the handles ask of the writer, and how it answers.

use chancery_shared::wire::JournalHead;
use chancery_shared::wire::journal::Event;
use flume::Sender;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::JournalError;
use super::recorded::{RecordedTbs, Unclaimed};
use crate::policy::CheckedTbs;

/// What the handles send.
#[derive(Debug)]
pub(super) enum Command {
    /// Write this. Once sent it is written, whether someone still waits for the answer or not.
    Append(Box<Waiting>),
    /// Nobody will use this intent: close it.
    Forget {
        /// Its entry.
        intent: u64,
    },
    /// Write all that was sent before, then end.
    Close(oneshot::Sender<()>),
}

/// An entry and who waits for it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) event: Event,
    pub(super) answer: Answer,
    /// The seat in the queue, free again when this is answered.
    pub(super) seat: OwnedSemaphorePermit,
}

/// How the one who waits is told.
#[derive(Debug)]
pub(super) enum Answer {
    /// Of `append`.
    Head(oneshot::Sender<Result<JournalHead, JournalError>>),
    /// Of `record`.
    Recorded {
        tbs: CheckedTbs,
        to: oneshot::Sender<Result<Unclaimed, JournalError>>,
        writer: Sender<Command>,
    },
}

impl Answer {
    pub(super) fn succeed(self, head: JournalHead) {
        // Who has gone needs no answer; an unclaimed intent reports itself when it is dropped.
        match self {
            Self::Head(to) => drop(to.send(Ok(head))),
            Self::Recorded { tbs, to, writer } => {
                let recorded = RecordedTbs::on_disk(tbs, head);
                drop(to.send(Ok(Unclaimed::new(recorded, writer))));
            }
        }
    }

    pub(super) fn fail(self, error: JournalError) {
        match self {
            Self::Head(to) => drop(to.send(Err(error))),
            Self::Recorded { to, .. } => drop(to.send(Err(error))),
        }
    }
}
