//! The sockets: where untrusted bytes enter the signer.
//!
//! Peer:     one user for each socket, known by its Unix user id and by nothing else.
//! Trusts:   no byte it reads. A request is data until `policy` has checked it.
//! Promises: one connection can't block another, and a bad frame ends only its own.
//! Never:    logs a request's body, or reads ahead of what it may have in flight.

use std::future::Future;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use chancery_shared::frame::{self, FrameError};
use chancery_shared::wiped::WipedBuffer;
use serde::Serialize;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::{JoinHandle, JoinSet};
use zeroize::Zeroizing;

use crate::admission::{AdmittedUid, admit};

/// A frame that is begun has to be complete within this time.
const FRAME_DEADLINE: Duration = Duration::from_secs(5);

/// A request has to be served within this time.
const REQUEST_DEADLINE: Duration = Duration::from_secs(30);

/// Requests in flight on one connection; the next one waits unread.
const IN_FLIGHT: usize = 64;

/// Replies share a write until they have so many bytes.
const TOGETHER: usize = 64 * 1024;

/// Connections at once on one socket; the next one is closed.
const CONNECTIONS: usize = 64;

/// A frame is served by this: it answers the reply's envelope and whether the connection goes on.
pub trait Service: Clone + Send + Sync + 'static {
    /// What the service keeps for one connection.
    type Connection: Send + Sync + 'static;
    /// The reply.
    type Reply: Serialize + Send + 'static;

    /// Begins a connection of that user.
    fn connected(&self, uid: u32) -> Self::Connection;

    /// Serves one frame.
    fn serve(
        &self,
        connection: Arc<Self::Connection>,
        frame: Arc<Zeroizing<Vec<u8>>>,
    ) -> impl Future<Output = (Self::Reply, bool)> + Send;

    /// The reply to a frame that took longer than it may.
    fn too_late(&self, frame: &[u8]) -> Self::Reply;
}

/// Opens the socket's file with these permissions. One that a dead process left is replaced.
///
/// # Errors
///
/// Another process listens there, or the folder refuses.
pub fn bind(path: &Path, mode: u32, group: Option<u32>) -> io::Result<UnixListener> {
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => return Err(io::ErrorKind::AddrInUse.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) => std::fs::remove_file(path)?,
    }
    // The process's umask keeps everyone else out until the permissions stand.
    let listener = UnixListener::bind(path)?;
    if group.is_some() {
        std::os::unix::fs::chown(path, None, group)?;
    }
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    Ok(listener)
}

/// Accepts connections until `stop` is set, then waits for what is in flight.
pub fn serve<S: Service>(
    listener: UnixListener,
    admitted: AdmittedUid,
    service: S,
    mut stop: watch::Receiver<bool>,
) -> JoinHandle<()> {
    tokio::spawn(async move {
        let free = Arc::new(Semaphore::new(CONNECTIONS));
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.wait_for(|stop| *stop) => break,
            };
            while connections.try_join_next().is_some() {}
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of file descriptors, most likely: others may end meanwhile.
                    tracing::error!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            match admit(&stream, admitted) {
                Ok(uid) => {
                    let Ok(permit) = Arc::clone(&free).try_acquire_owned() else {
                        tracing::warn!(uid, "too many connections; the new one is closed");
                        continue;
                    };
                    let connection = connection(stream, uid, service.clone(), stop.clone());
                    connections.spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                Err(refused) => tracing::warn!(%refused, "a connection was refused"),
            }
        }
        drop(listener);
        while connections.join_next().await.is_some() {}
    })
}

async fn connection<S: Service>(
    stream: UnixStream,
    uid: u32,
    service: S,
    mut stop: watch::Receiver<bool>,
) {
    let (mut incoming, outgoing) = stream.into_split();
    let (replies, queue) = mpsc::channel(IN_FLIGHT);
    let writer = tokio::spawn(write_replies(outgoing, queue));
    let connection = Arc::new(service.connected(uid));
    let in_flight = Arc::new(Semaphore::new(IN_FLIGHT));
    let (broken, mut is_broken) = watch::channel(false);
    loop {
        // The permit comes first: the 65th request stays unread in the socket.
        let Ok(permit) = Arc::clone(&in_flight).acquire_owned().await else { break };
        let frame = tokio::select! {
            frame = next_frame(&mut incoming) => frame,
            _ = stop.wait_for(|stop| *stop) => None,
            _ = is_broken.wait_for(|broken| *broken) => None,
            // Nobody would get the reply.
            () = replies.closed() => None,
        };
        let Some(frame) = frame else { break };
        let (service, connection) = (service.clone(), Arc::clone(&connection));
        let (replies, broken) = (replies.clone(), broken.clone());
        // Boxed: a task is moved several times while it begins and ends.
        tokio::spawn(Box::pin(async move {
            let reply_with = async move |(reply, goes_on): (S::Reply, bool)| {
                match WipedBuffer::of_json(&reply) {
                    // A peer that is gone gets no reply; what was done stands in the journal.
                    Ok(reply) => drop(replies.send(reply).await),
                    Err(error) => tracing::error!(%error, "a reply could not be written as JSON"),
                }
                if !goes_on {
                    broken.send_replace(true);
                }
            };
            serve_in_time(service, connection, frame, reply_with).await;
            // Not before the reply is queued and, past its deadline, the request has ended: until
            // then it counts as in flight.
            drop(permit);
        }));
    }
    drop(replies);
    // The writer ends once the last request in flight has let go of its sender.
    let _ = writer.await;
}

/// The request goes on after its deadline, so that it has an end in the journal; only the peer
/// hears at once that it took too long.
async fn serve_in_time<S: Service>(
    service: S,
    connection: Arc<S::Connection>,
    frame: Vec<u8>,
    reply_with: impl AsyncFnOnce((S::Reply, bool)),
) {
    // Wiped when it is served: it may hold a data key.
    let frame = Arc::new(Zeroizing::new(frame));
    let mut served = pin!(service.serve(connection, Arc::clone(&frame)));
    if let Ok(reply) = tokio::time::timeout(REQUEST_DEADLINE, &mut served).await {
        drop(frame);
        reply_with(reply).await;
    } else {
        let too_late = (service.too_late(&frame), true);
        drop(frame);
        // Beside each other: a peer that takes no reply holds nothing up.
        tokio::join!(reply_with(too_late), served);
    }
}

async fn next_frame(incoming: &mut OwnedReadHalf) -> Option<Vec<u8>> {
    match frame::read_frame(incoming, FRAME_DEADLINE).await {
        Ok(frame) => frame,
        Err(error) => {
            tracing::warn!(%error, "a connection ended");
            None
        }
    }
}

async fn write_replies(mut outgoing: OwnedWriteHalf, mut queue: mpsc::Receiver<WipedBuffer>) {
    while let Some(reply) = queue.recv().await {
        // Requests whose entries were synced together end together: their replies share a write.
        tokio::task::yield_now().await;
        let (mut length, mut replies) = (reply.len(), vec![reply]);
        while length < TOGETHER
            && let Ok(reply) = queue.try_recv()
        {
            length += reply.len();
            replies.push(reply);
        }
        let written =
            tokio::time::timeout(FRAME_DEADLINE, frame::write_frames(&mut outgoing, &replies));
        let failed = match written.await {
            Ok(Ok(())) => continue,
            Ok(Err(error)) => error,
            Err(_) => FrameError::TooSlow,
        };
        tracing::warn!(error = %failed, "a reply could not be delivered");
        return;
    }
}

#[cfg(test)]
mod tests;
