//! One connection: requests go out in order, answers come back in any order.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use chancery_shared::bytes::{ConnectionNonce, Fixed};
use chancery_shared::frame;
use chancery_shared::wire::v1::{self, Reply, Request};
use chancery_shared::wire::{JournalHead, Outcome, RequestEnvelope};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::{Instant, timeout, timeout_at};

use super::error::SignerError;
use super::options::Options;

mod traffic;

/// Requests that the signer serves at once on a connection. One is kept free for `hello`, so that
/// the state stays known under load.
const IN_FLIGHT: usize = 64;

/// What came back: where the journal stands, where the request wrote into it, and the outcome.
pub(super) type Answer = Result<(Option<JournalHead>, Outcome<Reply>), SignerError>;

/// One connection to the signer, from greeting to loss.
#[derive(Debug)]
pub(super) struct Connection {
    nonce: OnceLock<ConnectionNonce>,
    counter: AtomicU64,
    next_id: AtomicU64,
    outgoing: mpsc::Sender<Outgoing>,
    slots: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    ended: watch::Sender<bool>,
    heard_at: Mutex<Instant>,
}

/// A frame on its way to the socket.
#[derive(Debug)]
struct Outgoing {
    id: u64,
    frame: Vec<u8>,
}

#[derive(Debug)]
struct Waiting {
    is_open: bool,
    requests: HashMap<u64, Waiter>,
}

/// Who waits for an answer. The slot is kept until the answer comes, even where nobody waits any
/// more: the signer still works on it.
#[derive(Debug)]
struct Waiter {
    answer: oneshot::Sender<Answer>,
    was_sent: bool,
    _slot: Option<OwnedSemaphorePermit>,
}

impl Connection {
    /// Connects. The connection is of no use before [`Self::greeted`].
    pub(super) async fn open(options: &Options) -> std::io::Result<Arc<Self>> {
        let socket = tokio::net::UnixStream::connect(&options.socket).await?;
        let (outgoing, queue) = mpsc::channel(IN_FLIGHT);
        let connection = Arc::new(Self {
            nonce: OnceLock::new(),
            counter: AtomicU64::new(1),
            next_id: AtomicU64::new(1),
            outgoing,
            slots: Arc::new(Semaphore::new(IN_FLIGHT - 1)),
            waiting: Mutex::new(Waiting { is_open: true, requests: HashMap::new() }),
            ended: watch::Sender::new(false),
            heard_at: Mutex::new(Instant::now()),
        });
        traffic::start(&connection, socket, queue);
        Ok(connection)
    }

    /// Keeps the signer's nonce; `false` where it had another one before.
    pub(super) fn greeted(&self, nonce: ConnectionNonce) -> bool {
        *self.nonce.get_or_init(|| nonce) == nonce
    }

    /// The signer's nonce. Zeros before the greeting, which no signer accepts.
    pub(super) fn nonce(&self) -> ConnectionNonce {
        self.nonce.get().copied().unwrap_or(Fixed([0; 16]))
    }

    /// A number that this connection has not had before.
    pub(super) fn next_count(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    /// Whether requests can still be sent.
    pub(super) fn is_open(&self) -> bool {
        self.waiting().is_open
    }

    /// Returns once the connection is over.
    pub(super) async fn ended(&self) {
        // The sender lives in `self`, so waiting can't fail.
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }

    /// When the signer was last heard of.
    pub(super) fn heard_at(&self) -> Instant {
        *self.heard_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the connection; whoever waits learns whether their request had left.
    pub(super) fn end(&self) {
        let mut waiting = self.waiting();
        waiting.is_open = false;
        let orphans = std::mem::take(&mut waiting.requests);
        drop(waiting);
        self.slots.close();
        for waiter in orphans.into_values() {
            let error = if waiter.was_sent {
                SignerError::LostAfterSending
            } else {
                SignerError::RetryDraft
            };
            // Nobody waits any more: then nobody needs to know.
            let _ = waiter.answer.send(Err(error));
        }
        self.ended.send_replace(true);
    }

    /// Sends `request` when there is a slot for it, and waits for the answer.
    pub(super) async fn ask(&self, request: &Request, options: &Options) -> Answer {
        let slot = timeout(options.wait_for_slot, Arc::clone(&self.slots).acquire_owned())
            .await
            .map_err(|_| SignerError::Busy)?
            .map_err(|_| SignerError::RetryDraft)?;
        self.exchange(request, Some(slot), Instant::now() + options.request_within).await
    }

    /// Sends a `hello`, which needs no slot.
    pub(super) async fn hello(&self, hello: v1::Hello, options: &Options) -> Answer {
        let deadline = Instant::now() + options.silent_for;
        self.exchange(&Request::Hello(hello), None, deadline).await
    }

    async fn exchange(
        &self,
        request: &Request,
        slot: Option<OwnedSemaphorePermit>,
        deadline: Instant,
    ) -> Answer {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let frame = encode(id, request)?;
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.waiting();
            if !waiting.is_open {
                return Err(SignerError::RetryDraft);
            }
            waiting.requests.insert(id, Waiter { answer, was_sent: false, _slot: slot });
        }
        // The queue has room for every slot; it is full or closed only on a connection that ends.
        if self.outgoing.try_send(Outgoing { id, frame }).is_err() {
            self.waiting().requests.remove(&id);
            return Err(SignerError::RetryDraft);
        }
        match timeout_at(deadline, answered).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(SignerError::LostAfterSending),
            Err(_) => Err(SignerError::Deadline),
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that can't be encoded or is too long for a frame never leaves.
fn encode(id: u64, request: &Request) -> Result<Vec<u8>, SignerError> {
    let envelope = RequestEnvelope { version: v1::VERSION, id, body: request };
    frame::of_json(&envelope).map_err(|_| SignerError::TooLong)
}
