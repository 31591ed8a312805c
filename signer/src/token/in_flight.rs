//! The calls that a signing worker has and has not answered.

use std::collections::BTreeMap;
use std::time::Duration;

use chancery_shared::frame::encode;
use chancery_shared::wiped::WipedBuffer;
use tokio::sync::oneshot;
use tokio::time::Instant;
use zeroize::Zeroizing;

use super::error::TokenError;
use super::job::Job;
use super::protocol::{CallOf, Operation};

/// Longer than anything here takes.
pub(super) const FAR: Duration = Duration::from_hours(1);

/// Calls by id, so that the first is the oldest.
pub(super) struct InFlight {
    calls: BTreeMap<u64, (Asked, Instant)>,
    last_id: u64,
    /// How long one call may take.
    within: Duration,
}

/// Who waits for a call's answer.
pub(super) enum Asked {
    Job(Job),
    Canary,
    NewEpoch(Vec<oneshot::Sender<()>>),
    ForgetPin,
}

impl InFlight {
    pub(super) fn new(within: Duration) -> Self {
        Self { calls: BTreeMap::new(), last_id: 0, within }
    }

    /// Appends the call's frame to `frames` and waits for its answer from now on.
    pub(super) fn add(&mut self, frames: &mut WipedBuffer, asked: Asked) {
        self.last_id += 1;
        let operation = match &asked {
            Asked::Job(job) => &job.operation,
            Asked::Canary => &Operation::Canary,
            Asked::NewEpoch(_) => &Operation::NewEpoch,
            Asked::ForgetPin => &Operation::ForgetPin,
        };
        match frame(self.last_id, operation) {
            Some(frame) => {
                frames.append(&frame);
                self.calls.insert(self.last_id, (asked, Instant::now() + self.within));
            }
            // Longer than a frame may be: nothing that a token is asked to sign is.
            None => {
                if let Asked::Job(job) = asked {
                    job.answer(Err(TokenError::WrongAlgorithm));
                }
            }
        }
    }

    /// The call of this id, which is answered now.
    pub(super) fn take(&mut self, id: u64) -> Option<Asked> {
        self.calls.remove(&id).map(|(asked, _)| asked)
    }

    /// Everything that is not answered, to be put back at the front of a queue.
    pub(super) fn newest_first(&mut self) -> impl Iterator<Item = Asked> + use<> {
        std::mem::take(&mut self.calls).into_values().rev().map(|(asked, _)| asked)
    }

    /// When the oldest call has taken too long.
    pub(super) fn deadline(&self) -> Instant {
        self.calls.first_key_value().map_or_else(|| Instant::now() + FAR, |(_, (_, at))| *at)
    }

    pub(super) fn has_canary(&self) -> bool {
        self.calls.values().any(|(asked, _)| matches!(asked, Asked::Canary))
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }
}

fn frame(id: u64, operation: &Operation) -> Option<Zeroizing<Vec<u8>>> {
    let json = WipedBuffer::of_json(&CallOf { id, operation }).ok()?;
    encode(&json).ok().map(Zeroizing::new)
}
