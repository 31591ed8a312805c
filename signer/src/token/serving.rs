//! While a signing worker serves: requests in, answers out, deadlines, the canary.

use std::time::Duration;

use chancery_shared::wiped::WipedBuffer;
use chancery_shared::wire::v1::TokenState;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::OwnedWriteHalf;
use tokio::process::Child;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use super::error::TokenError;
use super::in_flight::{Asked, FAR, InFlight};
use super::job::Message;
use super::loss::Loss;
use super::opening::OpenWorker;
use super::pin::PinSource;
use super::protocol::{CallFailure, FromSigningWorker, Output};
use super::signing_worker;
use super::status::add;
use super::supervisor::{Stopped, Supervisor};
use super::worker_process::{WorkerProcess, kill, read_replies};

/// Calls in the worker at once; less than its queue, so that it never blocks on reading.
const IN_FLIGHT: usize = signing_worker::QUEUE / 2;
/// How long the token may be silent before it is asked for a sign of life.
const CANARY_EVERY: Duration = Duration::from_secs(2);
/// A worker that has served so long was a good one.
const GOOD: Duration = Duration::from_secs(10);

/// How serving ended.
pub(super) enum Served {
    /// The worker is gone; what it had is waiting again or answered.
    Lost,
    /// As told; the worker has ended in order.
    Stopped(Stopped),
}

/// Serves with this worker until it is lost or the supervisor is told to stop.
pub(super) async fn serve(supervisor: &mut Supervisor, worker: OpenWorker) -> Served {
    let OpenWorker { process: WorkerProcess { child, socket }, opened, pin_source } = worker;
    let (read, write) = socket.into_split();
    let (sender, replies) = mpsc::channel(IN_FLIGHT);
    let reader = tokio::spawn(read_replies(read, sender, supervisor.config.deadline));
    supervisor.stand(TokenState::Ok, "");
    supervisor.status.set(|standing| {
        standing.worker_pid = child.id();
        standing.facts = opened.facts;
        standing.sandbox = Some(opened.sandbox);
    });
    let supervisor_deadline = supervisor.config.deadline;
    let mut serving = Serving {
        supervisor,
        child,
        socket: write,
        in_flight: InFlight::new(supervisor_deadline),
        alive_at: Instant::now(),
        stopping: None,
    };
    let began = Instant::now();
    let end = serving.until_ended(replies).await;
    let served = match end {
        End::Stopping => serving.drain().await,
        End::Lost(why) => {
            if began.elapsed() >= GOOD {
                serving.supervisor.backoff.reset();
            }
            serving.lost(why, pin_source).await
        }
    };
    reader.abort();
    served
}

/// The state of one worker's service.
struct Serving<'a> {
    supervisor: &'a mut Supervisor,
    child: Child,
    socket: OwnedWriteHalf,
    in_flight: InFlight,
    /// When the token last gave a signature.
    alive_at: Instant,
    stopping: Option<Stopped>,
}

enum End {
    /// Everything is answered and the supervisor wants to stop.
    Stopping,
    Lost(Loss),
}

impl Serving<'_> {
    async fn until_ended(&mut self, mut replies: mpsc::Receiver<FromSigningWorker>) -> End {
        loop {
            if let Err(loss) = self.dispatch().await {
                return End::Lost(loss);
            }
            if self.stopping.is_some() && self.in_flight.is_empty() {
                return End::Stopping;
            }
            let (deadline, canary, expiry) =
                (self.in_flight.deadline(), self.canary_due(), self.supervisor.next_expiry());
            let lost = tokio::select! {
                reply = replies.recv() => match reply {
                    Some(reply) => self.replied(reply, &mut replies),
                    None => Some(Loss::Ended),
                },
                message = self.supervisor.inbox.recv(), if self.stopping.is_none() => {
                    // What was journaled together comes together, and goes by one write.
                    tokio::task::yield_now().await;
                    self.told(message);
                    None
                }
                () = sleep_until(deadline) => Some(Loss::Hung),
                // Dispatched above, when the loop comes round.
                () = sleep_until(canary) => None,
                () = sleep_until(expiry) => {
                    self.supervisor.expire();
                    None
                }
            };
            if let Some(loss) = lost {
                return End::Lost(loss);
            }
        }
    }

    /// Takes this message and what has arrived meanwhile.
    fn told(&mut self, message: Option<Message>) {
        let mut next = message;
        loop {
            match next {
                Some(Message::Job(job)) => self.supervisor.waiting.push_back(job),
                Some(Message::NewEpoch(done)) => self.supervisor.epochs_wanted.push(done),
                Some(Message::PinRefusedElsewhere) => self.forget_pin(),
                Some(Message::ClearPinRefusal(done)) => {
                    self.supervisor.clear_pin_refusal(done);
                }
                Some(Message::Stop(done)) => self.stopping = Some(Stopped(Some(done))),
                None => self.stopping = Some(Stopped(None)),
            }
            if self.stopping.is_some() {
                return;
            }
            match self.supervisor.inbox.try_recv() {
                Ok(message) => next = Some(message),
                Err(mpsc::error::TryRecvError::Empty) => return,
                Err(mpsc::error::TryRecvError::Disconnected) => next = None,
            }
        }
    }

    /// Takes this reply and what has arrived meanwhile.
    fn replied(
        &mut self,
        reply: FromSigningWorker,
        replies: &mut mpsc::Receiver<FromSigningWorker>,
    ) -> Option<Loss> {
        let mut next = Some(reply);
        while let Some(reply) = next {
            match reply {
                FromSigningWorker::Answer { id, result, failures } => {
                    self.supervisor.status.count(&failures);
                    if let Some(loss) = self.answered(id, result) {
                        return Some(loss);
                    }
                }
                FromSigningWorker::EpochBegun => add(&self.supervisor.status.epochs, 1),
                FromSigningWorker::Lost { why, failures } => {
                    self.supervisor.status.count(&failures);
                    return Some(Loss::Said(why));
                }
                FromSigningWorker::Opened(_) => return Some(Loss::Ended),
            }
            next = replies.try_recv().ok();
        }
        None
    }

    fn answered(&mut self, id: u64, result: Result<Output, CallFailure>) -> Option<Loss> {
        let asked = self.in_flight.take(id)?;
        let status = &self.supervisor.status;
        match asked {
            Asked::Job(job) => {
                if result.is_ok() {
                    self.alive_at = Instant::now();
                }
                if matches!(result, Ok(Output::Signature(_))) {
                    add(&status.signatures, 1);
                }
                job.answer(result.map_err(TokenError::from));
            }
            Asked::Canary if result.is_ok() => {
                self.alive_at = Instant::now();
                add(&status.canary_signatures, 1);
            }
            Asked::Canary => return Some(Loss::CanaryRefused),
            Asked::NewEpoch(waiting) => {
                for done in waiting {
                    let _ = done.send(());
                }
            }
            Asked::ForgetPin => {}
        }
        None
    }

    /// Sends what may be sent, in one write.
    async fn dispatch(&mut self) -> Result<(), Loss> {
        let mut frames = WipedBuffer::default();
        if !self.supervisor.epochs_wanted.is_empty() {
            let waiting = std::mem::take(&mut self.supervisor.epochs_wanted);
            self.in_flight.add(&mut frames, Asked::NewEpoch(waiting));
        }
        while self.in_flight.len() < IN_FLIGHT {
            let Some(job) = self.supervisor.waiting.pop_front() else { break };
            if !job.is_abandoned() {
                self.in_flight.add(&mut frames, Asked::Job(job));
            }
        }
        if self.canary_due() <= Instant::now() {
            self.in_flight.add(&mut frames, Asked::Canary);
        }
        self.write(&frames).await
    }

    async fn write(&mut self, frames: &[u8]) -> Result<(), Loss> {
        if frames.is_empty() {
            return Ok(());
        }
        // A worker that does not read hangs like one that does not answer.
        match timeout(self.supervisor.config.deadline, self.socket.write_all(frames)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Loss::Ended),
            Err(_) => Err(Loss::Hung),
        }
    }

    fn forget_pin(&mut self) {
        let mut frame = WipedBuffer::default();
        self.in_flight.add(&mut frame, Asked::ForgetPin);
        // Too small to block, and lost only with the worker that would have to forget.
        let _ = self.socket.try_write(&frame);
    }

    fn canary_due(&self) -> Instant {
        self.alive_at + if self.in_flight.has_canary() { FAR } else { CANARY_EVERY }
    }

    /// The worker is gone: kills what is left of it, and lets its requests wait for the next one.
    async fn lost(mut self, loss: Loss, pin_source: PinSource) -> Served {
        kill(&mut self.child).await;
        for asked in self.in_flight.newest_first() {
            match asked {
                Asked::Job(job) if job.was_lost => job.answer(Err(TokenError::Unavailable)),
                Asked::Job(mut job) => {
                    // Once more, with the same intent: no signature of it has left.
                    job.was_lost = true;
                    self.supervisor.waiting.push_front(job);
                }
                Asked::NewEpoch(waiting) => self.supervisor.epochs_wanted.extend(waiting),
                Asked::Canary | Asked::ForgetPin => {}
            }
        }
        self.supervisor.stand(TokenState::Recovering, &loss.to_string());
        let ckr = loss.ckr().cloned();
        match (loss.pin_refusal(), ckr) {
            (Some(failure), _) => self.supervisor.not_open(failure, pin_source).await,
            (None, Some(ckr)) => self.supervisor.status.count(&[ckr]),
            (None, None) => {}
        }
        match self.stopping {
            Some(stopped) => Served::Stopped(stopped),
            None => Served::Lost,
        }
    }

    /// Ends a worker that has nothing to do: it sees the end of its socket and leaves in order.
    async fn drain(mut self) -> Served {
        let _ = self.socket.shutdown().await;
        if timeout(self.supervisor.config.deadline, self.child.wait()).await.is_err() {
            kill(&mut self.child).await;
        }
        Served::Stopped(self.stopping.unwrap_or(Stopped(None)))
    }
}
