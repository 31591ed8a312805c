//! The supervisor of one token: keeps a signing worker alive and its requests answered.
//!
//! One task owns everything: the queue, the worker, the state. While there is no worker it opens
//! one, waits longer after each failure, and holds or refuses requests by the token's state.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chancery_shared::wire::v1::TokenState;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, interval, sleep_until};
use tracing::{error, info, warn};

use super::backoff::{Backoff, jitter};
use super::config::TokenConfig;
use super::error::TokenError;
use super::job::{Job, Message};
use super::opening::{OpenWorker, open_worker};
use super::pin::{PinError, PinFile, PinSource};
use super::protocol::OpenFailure;
use super::serving;
use super::serving::Served;
use super::status::{Standing, Status, add};
use super::worker_process::ProcessError;

/// How often a refused PIN's file is looked at.
const PIN_WATCH: Duration = Duration::from_millis(500);

/// Owned by its task.
pub(super) struct Supervisor {
    pub(super) config: Arc<TokenConfig>,
    pub(super) status: Arc<Status>,
    pub(super) pin: PinFile,
    pub(super) inbox: mpsc::UnboundedReceiver<Message>,
    /// Requests that no worker has yet.
    pub(super) waiting: VecDeque<Job>,
    /// Who waits for the token to be opened again.
    pub(super) epochs_wanted: Vec<oneshot::Sender<()>>,
    pub(super) backoff: Backoff,
    /// The worker before gave no answer while it opened the token.
    pub(super) gave_no_answer: bool,
}

/// Why the supervisor goes no further.
pub(super) struct Stopped(pub(super) Option<oneshot::Sender<()>>);

impl Supervisor {
    /// Runs until it is told to stop or no one holds the token any more.
    pub(super) async fn run(mut self) {
        let Stopped(done) = self.until_stopped().await;
        self.fail_waiting(&TokenError::Unavailable);
        self.stand(TokenState::Absent, "the signer is stopping");
        if let Some(done) = done {
            let _ = done.send(());
        }
    }

    async fn until_stopped(&mut self) -> Stopped {
        loop {
            match self.open().await {
                Ok(Some(worker)) => match serving::serve(self, worker).await {
                    Served::Lost => {}
                    Served::Stopped(stopped) => return stopped,
                },
                Ok(None) => {}
                Err(stopped) => return stopped,
            }
            if let Err(stopped) = self.pause().await {
                return stopped;
            }
        }
    }

    /// Starts a worker and waits until it has opened the token; `None` where it did not.
    async fn open(&mut self) -> Result<Option<OpenWorker>, Stopped> {
        let (config, pin, status) =
            (Arc::clone(&self.config), self.pin.clone(), Arc::clone(&self.status));
        // Not even the disk with the PIN on it keeps requests from their answers.
        let mut opening = pin!(async move {
            let (pin, pin_source) = pin.read().await?;
            add(&status.workers_started, 1);
            Ok((open_worker(config, pin).await, pin_source))
        });
        let result = loop {
            let expiry = self.next_expiry();
            tokio::select! {
                result = &mut opening => break result,
                message = self.inbox.recv() => self.hold(message)?,
                () = sleep_until(expiry) => self.expire(),
            }
        };
        let (result, pin_source) = match result {
            Ok(tried) => tried,
            Err(refused @ PinError::Refused) => {
                self.down(TokenState::PinRefused, &refused.to_string());
                return Ok(None);
            }
            Err(other) => {
                self.down(TokenState::Absent, &other.to_string());
                return Ok(None);
            }
        };
        match result {
            Ok((process, Ok(opened))) => {
                self.gave_no_answer = false;
                add(&self.status.epochs, 1);
                Ok(Some(OpenWorker { process, opened, pin_source }))
            }
            Ok((process, Err(failure))) => {
                process.kill().await;
                self.gave_no_answer = false;
                self.not_open(failure, pin_source).await;
                Ok(None)
            }
            // Killed while it started, or kept from it by a busy machine: the next one comes at once.
            Err(failure @ (ProcessError::Ended | ProcessError::TooSlow))
                if !self.gave_no_answer && self.status.state() != TokenState::Absent =>
            {
                self.gave_no_answer = true;
                self.stand(TokenState::Recovering, &failure.to_string());
                Ok(None)
            }
            // A module that crashes or hangs whenever it is asked is as good as away.
            Err(failure) => {
                self.down(TokenState::Absent, &failure.to_string());
                Ok(None)
            }
        }
    }

    /// Takes note of why the token could not be opened.
    pub(super) async fn not_open(&mut self, failure: OpenFailure, pin_source: PinSource) {
        let message = failure.to_string();
        if let Some(ckr) = failure.ckr() {
            self.status.count(std::slice::from_ref(ckr));
        }
        match failure {
            OpenFailure::PinRefused { ckr } => {
                if let Err(source) = self.pin.remember(pin_source, ckr).await {
                    error!(token = self.config.name, error = %source, "the PIN's refusal could not be written down");
                }
                self.down(TokenState::PinRefused, &message);
            }
            // The worker was told to forget a PIN that may be tried again by now.
            OpenFailure::PinForgotten => {
                if self.pin.is_refused().await {
                    self.down(TokenState::PinRefused, &message);
                } else {
                    self.stand(TokenState::Recovering, &message);
                }
            }
            _ => self.down(TokenState::Absent, &message),
        }
    }

    /// Waits before the next worker is started; after a refused PIN until there is a reason.
    async fn pause(&mut self) -> Result<(), Stopped> {
        let until = Instant::now() + self.backoff.next(jitter());
        let mut watch = interval(PIN_WATCH);
        loop {
            let refused = self.status.state() == TokenState::PinRefused;
            let expiry = self.next_expiry();
            tokio::select! {
                () = sleep_until(until), if !refused => return Ok(()),
                _ = watch.tick(), if refused => {
                    if !self.pin.is_refused().await {
                        self.stand(TokenState::Recovering, "another PIN is tried");
                        return Ok(());
                    }
                }
                message = self.inbox.recv() => self.hold(message)?,
                () = sleep_until(expiry) => self.expire(),
            }
        }
    }

    /// Takes a message while no worker serves.
    fn hold(&mut self, message: Option<Message>) -> Result<(), Stopped> {
        match message {
            Some(Message::Job(job)) => match self.status.state() {
                TokenState::Ok | TokenState::Recovering => self.waiting.push_back(job),
                TokenState::PinRefused => job.answer(Err(TokenError::PinRefused)),
                TokenState::Absent => job.answer(Err(TokenError::Unavailable)),
            },
            Some(Message::NewEpoch(done)) => match self.status.state() {
                TokenState::Ok | TokenState::Recovering => self.epochs_wanted.push(done),
                // The next worker begins with a new epoch anyway.
                TokenState::PinRefused | TokenState::Absent => {
                    let _ = done.send(());
                }
            },
            Some(Message::PinRefusedElsewhere) => {}
            Some(Message::ClearPinRefusal(done)) => self.clear_pin_refusal(done),
            Some(Message::Stop(done)) => return Err(Stopped(Some(done))),
            None => return Err(Stopped(None)),
        }
        Ok(())
    }

    /// Beside everything else: a slow disk holds no signature up.
    pub(super) fn clear_pin_refusal(&self, done: oneshot::Sender<()>) {
        let (pin, config) = (self.pin.clone(), Arc::clone(&self.config));
        tokio::spawn(async move {
            if let Err(source) = pin.forget().await {
                error!(token = config.name, error = %source, "the PIN's refusal could not be cleared");
            }
            let _ = done.send(());
        });
    }

    /// The token does not sign and will not soon: nobody is kept waiting.
    fn down(&mut self, state: TokenState, message: &str) {
        self.stand(state, message);
        let error = match state {
            TokenState::PinRefused => TokenError::PinRefused,
            TokenState::Ok | TokenState::Recovering | TokenState::Absent => TokenError::Unavailable,
        };
        self.fail_waiting(&error);
    }

    /// Says how the token is, and logs it once.
    pub(super) fn stand(&self, state: TokenState, message: &str) {
        let before = self.status.standing();
        if before.state != state || before.message != message {
            let token = self.config.name.as_str();
            match state {
                TokenState::Ok => info!(token, "the token signs"),
                TokenState::Recovering => warn!(token, reason = message, "the token recovers"),
                TokenState::PinRefused => error!(token, reason = message, "the PIN is refused"),
                TokenState::Absent => error!(token, reason = message, "the token is absent"),
            }
        }
        self.status.set(|standing: &mut Standing| {
            standing.state = state;
            message.clone_into(&mut standing.message);
            if state != TokenState::Ok {
                standing.worker_pid = None;
            }
        });
    }

    fn fail_waiting(&mut self, error: &TokenError) {
        for job in self.waiting.drain(..) {
            job.answer(Err(error.clone()));
        }
        for done in self.epochs_wanted.drain(..) {
            let _ = done.send(());
        }
    }

    /// Answers what has waited too long.
    pub(super) fn expire(&mut self) {
        let now = Instant::now();
        let (expired, still): (VecDeque<Job>, VecDeque<Job>) =
            self.waiting.drain(..).partition(|job| job.expires <= now);
        self.waiting = still;
        for job in expired {
            job.answer(Err(TokenError::DeadlineExceeded));
        }
    }

    /// When `expire` has something to do; far away where nothing waits.
    pub(super) fn next_expiry(&self) -> Instant {
        let far = Instant::now() + Duration::from_hours(1);
        self.waiting.iter().map(|job| job.expires).min().unwrap_or(far)
    }
}
