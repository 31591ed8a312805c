//! The two tasks of a connection: one writes frames, one reads them.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use chancery_shared::frame::read_frame;
use chancery_shared::wire::ReplyEnvelope;
use chancery_shared::wire::v1::Reply;
use serde::Deserialize;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::{Connection, Outgoing, SignerError};

/// To finish what was begun, in either direction.
const FRAME_WITHIN: Duration = Duration::from_secs(5);

/// Frames share a write until they have so many bytes.
const TOGETHER: usize = 64 * 1024;

/// Starts both tasks. Each ends with the connection, and ends it.
pub(super) fn start(
    connection: &Arc<Connection>,
    socket: UnixStream,
    queue: mpsc::Receiver<Outgoing>,
) {
    let (reader, writer) = socket.into_split();
    let reading = Arc::clone(connection);
    tokio::spawn(async move {
        tokio::select! {
            () = read(&reading, reader) => reading.end(),
            () = reading.ended() => {}
        }
    });
    let writing = Arc::clone(connection);
    tokio::spawn(async move {
        tokio::select! {
            () = write(&writing, writer, queue) => writing.end(),
            () = writing.ended() => {}
        }
    });
}

async fn write(
    connection: &Connection,
    mut socket: OwnedWriteHalf,
    mut queue: mpsc::Receiver<Outgoing>,
) {
    while let Some(first) = queue.recv().await {
        // Those who ask at the same time share a write.
        tokio::task::yield_now().await;
        // Freed, and so wiped, when it is written: a frame may hold a data key.
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(Outgoing { id, frame }) = next {
            // Marked before the first byte: a connection that ends meanwhile leaves no doubt.
            connection.mark(id, true);
            bytes.extend_from_slice(&frame);
            ends.push((id, bytes.len()));
            next = if bytes.len() < TOGETHER { queue.try_recv().ok() } else { None };
        }
        let (mut rest, until) = (bytes.as_slice(), Instant::now() + FRAME_WITHIN);
        while !rest.is_empty() {
            let Ok(Ok(written @ 1..)) = timeout_at(until, socket.write(rest)).await else {
                // The signer can't have acted on a frame that did not go out whole.
                let whole = bytes.len() - rest.len();
                for (id, _) in ends.iter().filter(|(_, end)| *end > whole) {
                    connection.mark(*id, false);
                }
                return;
            };
            rest = rest.get(written..).unwrap_or_default();
        }
    }
}

async fn read(connection: &Connection, socket: OwnedReadHalf) {
    let mut socket = BufReader::new(socket);
    loop {
        match read_frame(&mut socket, FRAME_WITHIN).await {
            Ok(Some(frame)) => {
                if let Err(fault) = connection.received(&frame) {
                    tracing::error!(%fault, "the signer sent what is no answer; reconnecting");
                    return;
                }
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, "the connection to the signer failed");
                return;
            }
        }
    }
}

/// Why a frame ends the connection.
#[derive(Debug, thiserror::Error)]
enum Fault {
    #[error("a frame without a readable request id")]
    NoId,
    #[error("a reply to no request of this connection")]
    UnknownId,
}

/// The part of a reply that must be readable whatever the rest is.
#[derive(Deserialize)]
struct IdAlone {
    id: Option<u64>,
}

impl Connection {
    fn mark(&self, id: u64, was_sent: bool) {
        if let Some(waiter) = self.waiting().requests.get_mut(&id) {
            waiter.was_sent = was_sent;
        }
    }

    fn received(&self, frame: &[u8]) -> Result<(), Fault> {
        let (id, answer) = match serde_json::from_slice::<ReplyEnvelope<Reply>>(frame) {
            Ok(envelope) => {
                if envelope.id.is_none() {
                    tracing::error!(outcome = ?envelope.outcome, "the signer ends the connection");
                }
                (envelope.id, Ok((envelope.journal, envelope.outcome)))
            }
            // A reply of a shape that this build does not know ends its own request alone.
            Err(error) => {
                tracing::error!(%error, "a reply of the signer can't be read");
                let id = serde_json::from_slice::<IdAlone>(frame).ok().and_then(|frame| frame.id);
                (id, Err(SignerError::Protocol))
            }
        };
        let id = id.ok_or(Fault::NoId)?;
        let waiter = self.waiting().requests.remove(&id).ok_or(Fault::UnknownId)?;
        *self.heard_at.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        // Nobody waits any more: the request's own deadline has passed.
        let _ = waiter.answer.send(answer);
        Ok(())
    }
}
