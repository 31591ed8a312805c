//! The signing worker: the long-lived child that signs and can't write.
//!
//! Peer:     the signer, over the socketpair that is this process's standard input.
//! Trusts:   the signer; never the vendor's library to return.
//! Promises: every call is answered, or the worker says that it is of no more use.
//! Never:    writes to the token's folder, tries a refused PIN again, or prints a byte of a call.

use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use chancery_shared::frame::blocking;
use flume::{RecvTimeoutError, bounded};
use zeroize::Zeroizing;

use super::calls::Worker;
use super::hand_over::HandOver;
use super::protocol::{Call, FromSigningWorker, Opened, StartSigning};
use super::worker::{WorkerError, end_at_once, first_frame, send};
use super::worker_sandbox::harden;

/// Calls that may wait inside the worker. The signer keeps fewer in flight, so there is always room.
pub(super) const QUEUE: usize = 128;

/// How long calls in progress may take once the signer has closed the socket.
const DRAIN: Duration = Duration::from_secs(10);

/// Serves until the socket ends.
pub(super) fn run(mut socket: UnixStream) -> Result<(), WorkerError> {
    let out = socket.try_clone()?;
    let hardened = harden();
    let Some(start) = first_frame::<StartSigning>(&mut socket)? else {
        return Ok(());
    };
    let (worker, sandbox) = match hardened.and_then(|()| Worker::open(start, out)) {
        Ok(opened) => opened,
        Err(failure) => {
            return send(&mut socket, &FromSigningWorker::Opened(Err(failure)));
        }
    };
    worker.say(&FromSigningWorker::Opened(Ok(Opened { facts: worker.facts(), sandbox })));
    serve(&worker, &mut socket);
    worker.close();
    Ok(())
}

/// Reads calls and hands them to the threads until the socket ends; then waits for the threads.
fn serve(worker: &Worker, socket: &mut UnixStream) {
    let calls = HandOver::new(QUEUE);
    let (finished, all_finished) = bounded::<()>(0);
    std::thread::scope(|scope| {
        for thread in 0..worker.threads() {
            let (calls, finished) = (&calls, finished.clone());
            scope.spawn(move || {
                while let Some(call) = calls.take() {
                    worker.answer(thread, call);
                }
                drop(finished);
            });
        }
        drop(finished);
        let mut reader = BufReader::new(socket);
        while let Ok(Some(frame)) = blocking::read_frame(&mut reader) {
            let frame = Zeroizing::new(frame);
            // Only the signer writes here; if it can't be understood, there is no going on.
            let Ok(call) = serde_json::from_slice::<Call>(&frame) else { break };
            if calls.put(call).is_err() {
                break;
            }
        }
        calls.close();
        // Every thread holds a sender of `finished`, so this returns when the last has ended.
        if all_finished.recv_timeout(DRAIN) == Err(RecvTimeoutError::Timeout) {
            // A call hangs in the library. Nothing else ends such a process safely.
            end_at_once();
        }
    });
}
