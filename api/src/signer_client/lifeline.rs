//! The background task: connects, greets, keeps the state fresh, and begins again on loss.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chancery_shared::wire::Outcome;
use chancery_shared::wire::v1::{Hello, HelloReply, Reply};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::Shared;
use super::connection::Connection;
use super::error::SignerError;
use super::heads::HeadsUnknown;
use super::state::SignerState;

/// Keeps the connection for as long as it lives.
#[derive(Debug)]
pub(super) struct Lifeline(JoinHandle<()>);

impl Lifeline {
    pub(super) fn start(shared: Arc<Shared>) -> Self {
        Self(tokio::spawn(run(shared)))
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Ends its connection when it goes out of scope, the task's own end included.
struct Held<'a> {
    shared: &'a Shared,
    connection: Arc<Connection>,
}

impl Held<'_> {
    /// From now on new requests are sent on this connection.
    fn offer(&self, reply: HelloReply) {
        let state = SignerState::said(reply);
        let before = self.shared.state.send_replace(state.clone());
        tell_missing(&before, &state);
        self.shared.link.send_if_modified(|link| {
            let was_offered = link.is_some();
            link.get_or_insert_with(|| Arc::clone(&self.connection));
            !was_offered
        });
    }

    /// From now on new requests are told at once that the signer can't be reached.
    fn withhold(&self) {
        self.shared.link.send_replace(None);
        self.shared.state.send_modify(|state| *state = state.lost());
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.connection.end();
        self.withhold();
    }
}

/// Keys that vanish from a token are told when that is first seen.
fn tell_missing(before: &SignerState, now: &SignerState) {
    let missing = || now.missing_keys();
    metrics::gauge!("chancery_ca_keys_missing")
        .set(u32::try_from(missing().count()).unwrap_or(u32::MAX));
    for key in missing().filter(|key| !before.key(key.key_id).is_some_and(|it| it.is_missing)) {
        let (key_id, token) = (key.key_id, &key.token);
        tracing::error!(code = "key-gone", %key_id, token, "the token lacks a CA's key");
    }
}

/// Why there is no connection, or no longer.
#[derive(Debug, thiserror::Error)]
enum Lost {
    #[error("the socket can't be connected")]
    Connect(#[source] std::io::Error),
    #[error("no greeting came in time")]
    Slow,
    #[error("the signer did not greet")]
    NoGreeting,
    #[error("the signer changed the nonce of the connection")]
    NonceChanged,
    #[error("the connection ended")]
    Ended,
    #[error("the signer gave no sign of life")]
    Silent,
    #[error(transparent)]
    Heads(#[from] HeadsUnknown),
}

async fn run(shared: Arc<Shared>) {
    let (first, longest) = shared.options.back_off;
    let mut pause = first;
    let mut was_told = false;
    loop {
        let lost = match connect(&shared).await {
            Ok(held) => {
                tracing::info!(signer = ?shared.state.borrow().signer_id(), "signer connected");
                pause = first;
                was_told = false;
                keep(&held).await
            }
            Err(lost) => lost,
        };
        // Once per loss: an absent signer is no reason to fill the log.
        if !was_told {
            tracing::warn!(error = &lost as &dyn std::error::Error, "no connection to the signer");
            was_told = true;
        }
        sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

async fn connect(shared: &Shared) -> Result<Held<'_>, Lost> {
    let within = shared.options.connect_within;
    timeout(within, async {
        let connection = Connection::open(&shared.options).await.map_err(Lost::Connect)?;
        let held = Held { shared, connection };
        greet(&held).await?;
        Ok(held)
    })
    .await
    .map_err(|_| Lost::Slow)?
}

/// Looks at the signer about every second, and at once when asked to. Where it can't sign yet it is
/// about to, mostly: then sooner, and less and less often.
async fn keep(held: &Held<'_>) -> Lost {
    let options = &held.shared.options;
    let (first, _) = options.back_off;
    let mut soon = first;
    loop {
        let pause = if held.shared.state.borrow().is_whole() {
            soon = first;
            options.refresh_every
        } else {
            let longer = (soon * 2).min(options.refresh_every);
            std::mem::replace(&mut soon, longer)
        };
        tokio::select! {
            () = held.connection.ended() => return Lost::Ended,
            () = sleep(pause) => {}
            () = held.shared.refresh.notified() => {}
        }
        let mut greeting = pin!(greet(held));
        let mut greeted = timeout(options.quiet_for, &mut greeting).await.ok();
        if greeted.is_none() {
            held.withhold();
            greeted = Some(greeting.await);
        }
        match greeted.unwrap_or(Err(Lost::Silent)) {
            Ok(()) => {}
            // Without the heads the state is as it was; the connection is as good as before.
            Err(Lost::Heads(_)) if is_lively(&held.connection, options.silent_for) => {}
            Err(lost) => return lost,
        }
    }
}

fn is_lively(connection: &Connection, silent_for: Duration) -> bool {
    connection.is_open() && Instant::now().duration_since(connection.heard_at()) < silent_for
}

async fn greet(held: &Held<'_>) -> Result<(), Lost> {
    let Held { shared, connection } = held;
    let journal_heads = shared.heads.journal_heads().await?;
    let reply = hello(connection, Hello { journal_heads }, shared).await?;
    if !connection.greeted(reply.connection_nonce) {
        return Err(Lost::NonceChanged);
    }
    held.offer(reply);
    Ok(())
}

async fn hello(connection: &Connection, hello: Hello, shared: &Shared) -> Result<HelloReply, Lost> {
    match connection.hello(hello, &shared.options).await {
        Ok((_, Outcome::Done(Reply::Hello(reply)))) => Ok(*reply),
        Ok((_, outcome)) => {
            tracing::error!(?outcome, "the signer's greeting is none");
            Err(Lost::NoGreeting)
        }
        Err(SignerError::Deadline) => Err(Lost::Silent),
        Err(_) => Err(Lost::Ended),
    }
}
