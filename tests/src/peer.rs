//! A peer of the signer that can say anything, as a taken-over API could.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use chancery_shared::bytes::{Fixed, SerialNonce};
use chancery_shared::frame::blocking;
use chancery_shared::wire::v1::{Hello, HelloReply, Reply, Request};
use chancery_shared::wire::{JournalHead, Outcome, Refusal, ReplyEnvelope};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A connection to one of the signer's sockets.
#[derive(Debug)]
pub struct Peer {
    stream: UnixStream,
    next_id: u64,
    counter: u64,
    nonce: [u8; 16],
}

/// A reply that does not come within this time is a failure of the test.
const PATIENCE: Duration = Duration::from_secs(40);

impl Peer {
    /// Connects and says hello.
    ///
    /// # Errors
    ///
    /// The signer is not there or closed the connection.
    pub fn connect(socket: &Path) -> anyhow::Result<(Self, HelloReply)> {
        Self::connect_knowing(socket, Vec::new())
    }

    /// As [`Self::connect`], as an API that knows these journal heads.
    ///
    /// # Errors
    ///
    /// The signer is not there or closed the connection.
    pub fn connect_knowing(
        socket: &Path,
        journal_heads: Vec<JournalHead>,
    ) -> anyhow::Result<(Self, HelloReply)> {
        let mut peer = Self::open(socket)?;
        let hello = Request::Hello(Hello { journal_heads });
        match peer.ask(&hello)?.outcome {
            Outcome::Done(Reply::Hello(hello)) => {
                peer.nonce = hello.connection_nonce.0;
                Ok((peer, *hello))
            }
            other => bail!("hello was answered by {other:?}"),
        }
    }

    /// Connects and says nothing.
    ///
    /// # Errors
    ///
    /// The socket is not there.
    pub fn open(socket: &Path) -> anyhow::Result<Self> {
        let stream = UnixStream::connect(socket)
            .with_context(|| format!("connecting to {}", socket.display()))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self { stream, next_id: 1, counter: 0, nonce: [0; 16] })
    }

    /// A serial nonce of this connection that was not used before.
    pub fn fresh_nonce(&mut self) -> SerialNonce {
        self.counter += 1;
        self.nonce_with(self.counter)
    }

    /// The serial nonce of this connection with that counter.
    #[must_use]
    pub fn nonce_with(&self, counter: u64) -> SerialNonce {
        let mut nonce = [7; 40];
        for (to, from) in nonce.iter_mut().zip(self.nonce.iter().chain(&counter.to_be_bytes())) {
            *to = *from;
        }
        Fixed(nonce)
    }

    /// Asks and waits for the reply.
    ///
    /// # Errors
    ///
    /// The connection ended, or the reply is not to this request.
    pub fn ask(&mut self, request: &Request) -> anyhow::Result<ReplyEnvelope<Reply>> {
        self.exchange(request)
    }

    /// As [`Self::ask`] on either socket.
    ///
    /// # Errors
    ///
    /// The connection ended, or the reply is not to this request.
    pub fn exchange<Q: Serialize, A: DeserializeOwned>(
        &mut self,
        request: &Q,
    ) -> anyhow::Result<ReplyEnvelope<A>> {
        let id = self.next_id;
        self.next_id += 1;
        let body = serde_json::json!({ "version": 1, "id": id, "body": request });
        self.send(&serde_json::to_vec(&body)?)?;
        let reply: ReplyEnvelope<A> =
            serde_json::from_slice(&self.receive()?.context("the signer closed the connection")?)?;
        ensure!(reply.id == Some(id), "the reply is to another request");
        Ok(reply)
    }

    /// Asks for what must be refused.
    ///
    /// # Errors
    ///
    /// It was not refused.
    pub fn refused(&mut self, request: &Request) -> anyhow::Result<Refusal> {
        match self.ask(request)?.outcome {
            Outcome::Refused(refusal) => Ok(refusal),
            Outcome::Done(reply) => bail!("done: {reply:?}"),
        }
    }

    /// Sends a frame with this body.
    ///
    /// # Errors
    ///
    /// The connection ended.
    pub fn send(&mut self, body: &[u8]) -> anyhow::Result<()> {
        Ok(blocking::write_frame(&mut self.stream, body)?)
    }

    /// Sends bytes that need not be a frame.
    ///
    /// # Errors
    ///
    /// The connection ended.
    pub fn send_raw(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        Ok(self.stream.write_all(bytes)?)
    }

    /// The next frame; `None` where the signer closed the connection.
    ///
    /// # Errors
    ///
    /// The connection broke, or nothing came in time.
    pub fn receive(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(blocking::read_frame(&mut self.stream)?)
    }
}
