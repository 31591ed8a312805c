//! The child's side of every worker: who it is, its socket, its first frame, its end.

use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

use chancery_shared::frame::{FrameError, blocking};
use chancery_shared::wiped::WipedBuffer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use zeroize::Zeroizing;

/// First argument of a signing worker.
pub(super) const SIGNING_WORKER: &str = "signing-worker";
/// First argument of a key worker.
pub(super) const KEY_WORKER: &str = "key-worker";

/// Runs a worker and ends the process, where the first argument asks for one. Every `main` whose
/// program is a token's `program` calls this before anything else.
pub fn run_worker_if_asked() {
    let Some(role) = std::env::args_os().nth(1) else { return };
    let run = match role.to_str() {
        Some(SIGNING_WORKER) => super::signing_worker::run,
        Some(KEY_WORKER) => super::key_worker::run,
        _ => return,
    };
    // A worker whose state may be broken must be seen to be gone.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
    let ended = inherited_socket().map_err(WorkerError::from).and_then(run);
    // Only now: to leave while threads are in the library would crash it.
    std::process::exit(match ended {
        Ok(()) => 0,
        Err(_) => 1,
    })
}

/// Why a worker ended otherwise than by the end of its socket.
#[derive(Debug, thiserror::Error)]
pub(super) enum WorkerError {
    #[error("the socket to the signer failed")]
    Socket(#[from] io::Error),
    #[error("the signer sent a frame that can't be read")]
    Frame(#[from] FrameError),
    #[error("the signer sent a frame that can't be understood")]
    Json(#[from] serde_json::Error),
}

/// The signer passes the socket as standard input, so that no descriptor needs a number.
fn inherited_socket() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// The first frame; `None` where the signer went away at once.
pub(super) fn first_frame<T: DeserializeOwned>(
    socket: &mut UnixStream,
) -> Result<Option<T>, WorkerError> {
    let Some(frame) = blocking::read_frame(socket)?.map(Zeroizing::new) else { return Ok(None) };
    // Wiped with its PIN when it goes out of scope.
    Ok(Some(serde_json::from_slice(&frame)?))
}

/// Sends one message.
pub(super) fn send(socket: &mut impl Write, message: &impl Serialize) -> Result<(), WorkerError> {
    let json = WipedBuffer::of_json(message)?;
    blocking::write_frame(socket, &json)?;
    Ok(())
}

/// Ends this process as a crash would: for a library that does not return.
pub(super) fn end_at_once() {
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
}
