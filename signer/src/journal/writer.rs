//! The one thread that writes: takes all entries that wait, writes them as a group, answers.

use std::sync::Arc;
use std::time::Duration;

use chancery_shared::wire::journal::Event;
use flume::{Receiver, RecvTimeoutError};

use super::JournalError;
use super::command::{Command, Waiting};
use super::gap::Gap;
use super::log::{Log, head};
use super::published::{JournalState, Published};
use super::storage::WriteError;

/// The writer's thread.
pub(super) struct Writer {
    pub(super) log: Log,
    pub(super) queue: Receiver<Command>,
    pub(super) published: Arc<Published>,
    /// How long a group may wait for more.
    pub(super) gather: Duration,
    /// How often to look for room while the disk takes nothing.
    pub(super) look_every: Duration,
    /// Intents that nobody will use.
    pub(super) forgotten: Vec<u64>,
}

impl Writer {
    /// Writes until it is closed or all handles are gone.
    pub(super) fn run(mut self) {
        let mut closed = None;
        while closed.is_none()
            && let Some(first) = self.wait()
        {
            let mut group = Vec::new();
            let mut acceptance = None;
            let mut next = Some(first);
            let mut gathered = false;
            while let Some(command) = next {
                match command {
                    Command::Append(waiting) if is_acceptance(&waiting.event) => {
                        acceptance = Some(*waiting);
                        break;
                    }
                    Command::Append(waiting) => group.push(*waiting),
                    Command::Forget { intent } => self.forgotten.push(intent),
                    Command::Close(done) => {
                        closed = Some(done);
                        break;
                    }
                }
                next = self.queue.try_recv().ok();
                if next.is_none() && !gathered {
                    gathered = true;
                    next = self.gather(self.expected(&group));
                }
            }
            self.write(group);
            if let Some(acceptance) = acceptance {
                self.accept(acceptance);
            }
        }
        self.published.state.send_if_modified(|state| {
            let was_poisoned = *state == JournalState::Poisoned;
            *state = if was_poisoned { *state } else { JournalState::Closed };
            !was_poisoned
        });
        // Whoever waits for the end may open the journal again: the lock goes first.
        drop(self);
        if let Some(done) = closed {
            let _ = done.send(());
        }
    }

    /// The next command; while the disk takes nothing, looks now and then whether it does again.
    fn wait(&mut self) -> Option<Command> {
        loop {
            if *self.published.state.borrow() != JournalState::Unavailable {
                return self.queue.recv().ok();
            }
            match self.queue.recv_timeout(self.look_every) {
                Ok(command) => return Some(command),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => {
                    if self.log.has_room().is_ok() {
                        self.become_state(JournalState::Writable);
                    }
                }
            }
        }
    }

    /// The intents in flight: they will bring their outcomes soon.
    fn expected(&self, group: &[Waiting]) -> usize {
        let is_outcome =
            |e: &&Waiting| matches!(e.event, Event::Signed { .. } | Event::Abandoned { .. });
        let outcomes = group.iter().filter(is_outcome).count() + self.forgotten.len();
        self.log.tail().open_intents.len().saturating_sub(outcomes)
    }

    /// The first of what comes while some of them may.
    fn gather(&self, expected: usize) -> Option<Command> {
        let patience = patience(expected, self.log.last_sync(), self.gather);
        if patience.is_zero() {
            return None;
        }
        #[expect(clippy::disallowed_methods, reason = "each event would wake it in vain")]
        std::thread::sleep(patience);
        self.queue.try_recv().ok()
    }

    fn write(&mut self, group: Vec<Waiting>) {
        if group.is_empty() && self.forgotten.is_empty() {
            return;
        }
        if *self.published.state.borrow() == JournalState::Poisoned {
            for waiting in group {
                waiting.answer.fail(JournalError::SyncFailed);
            }
            return;
        }
        match self.log.prepare() {
            Ok(None) => {}
            Ok(Some(opened)) => self.published.committed(opened, head(self.log.tail())),
            Err(error) => return self.refuse(group, error),
        }
        for intent in &self.forgotten {
            let reason = "the request ended before the token was asked".to_owned();
            // One that has its outcome already needs no other.
            let _ = self.log.stage(Event::Abandoned { intent: *intent, reason });
        }
        let staged: Vec<_> = group
            .into_iter()
            .filter_map(|Waiting { event, answer, seat }| match self.log.stage(event) {
                Ok(head) => Some((answer, head, seat)),
                Err(error) => {
                    answer.fail(error);
                    None
                }
            })
            .collect();
        if self.log.staged() == 0 {
            self.forgotten.clear();
            return;
        }
        match self.log.commit() {
            Ok(committed) => {
                self.forgotten.clear();
                self.published.committed(committed, head(self.log.tail()));
                self.become_state(JournalState::Writable);
                for (answer, head, _seat) in staged {
                    answer.succeed(head);
                }
            }
            Err(error) => {
                let failure = self.note_failure(error);
                for (answer, ..) in staged {
                    answer.fail(failure());
                }
            }
        }
    }

    /// Writes that the operator accepts a missing head. Where it is above the end, the journal goes
    /// on above it.
    fn accept(&mut self, acceptance: Waiting) {
        let tail = self.log.tail();
        let is_poisoned = *self.published.state.borrow() == JournalState::Poisoned;
        let Some(gap) =
            Gap::asked_for(&acceptance.event, tail.signer_id, tail.seq).filter(|_| !is_poisoned)
        else {
            return self.write(vec![acceptance]);
        };
        let Waiting { event, answer, seat: _seat } = acceptance;
        if !gap.is_plausible() {
            return answer.fail(JournalError::Implausible { gap });
        }
        match self.log.go_on_above(gap, event) {
            Ok(committed) => {
                let head = head(self.log.tail());
                self.published.committed(committed, head);
                self.become_state(JournalState::Writable);
                answer.succeed(head);
            }
            Err(error) => answer.fail(self.note_failure(error)()),
        }
    }

    fn refuse(&mut self, group: Vec<Waiting>, error: WriteError) {
        let failure = self.note_failure(error);
        for waiting in group {
            waiting.answer.fail(failure());
        }
    }

    /// Remembers the failure, and gives what each entry of the group is answered.
    fn note_failure(&mut self, error: WriteError) -> impl Fn() -> JournalError + use<> {
        self.published.failed();
        let (state, error) = match error {
            WriteError::NotWritten(error) => (JournalState::Unavailable, Arc::new(error)),
            WriteError::NotSynced(error) => {
                tracing::error!(%error, "the disk did not confirm a write to the journal");
                (JournalState::Poisoned, Arc::new(error))
            }
        };
        if state == JournalState::Unavailable
            && *self.published.state.borrow() == JournalState::Writable
        {
            tracing::error!(%error, "the journal can't be written: nothing is signed until it can");
        }
        self.become_state(state);
        move || match state {
            JournalState::Poisoned => JournalError::SyncFailed,
            _ => JournalError::Unavailable(Arc::clone(&error)),
        }
    }

    fn become_state(&self, new: JournalState) {
        self.published.state.send_if_modified(|state| {
            let changes = *state != new;
            if changes && new == JournalState::Writable {
                tracing::info!("the journal can be written again");
            }
            *state = new;
            changes
        });
    }
}

fn is_acceptance(event: &Event) -> bool {
    matches!(event, Event::JournalAccepted { .. })
}

/// How long a group waits for outcomes: a sync's time for each that is expected, since each may save
/// one.
fn patience(expected: usize, sync: Duration, at_most: Duration) -> Duration {
    let syncs = u32::try_from(expected).map_or(SYNCS, |expected| expected.min(SYNCS));
    (sync * syncs).min(at_most)
}

/// No group waits for more syncs than this: with twice as many 64 clients got fewer certificates.
const SYNCS: u32 = 12;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_waits_the_longer_the_more_is_expected_and_not_at_all_for_nothing() {
        let milliseconds = Duration::from_millis;
        for (expected, sync, waits) in [(0, 1, 0), (1, 1, 1), (2, 1, 2), (2, 2, 3), (500, 1, 3)] {
            let patience = patience(expected, milliseconds(sync), milliseconds(3));

            assert_eq!(patience, milliseconds(waits), "{expected} expected");
        }
        let many = patience(500, Duration::from_micros(100), milliseconds(3));
        assert_eq!(many, Duration::from_micros(1200));
    }
}
