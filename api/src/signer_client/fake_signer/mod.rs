//! A signer for tests: a real socket, real keys and a real hash chain, no token and no policy.

mod journal;
mod key_work;
mod keys;
mod serve;
mod work;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use chancery_shared::wire::v1::{Reply, Request};
use chancery_shared::wire::{Refusal, RefusalCode};
use tokio::net::UnixListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

pub(crate) use journal::FakeJournal;
pub(crate) use work::Signer;

/// A signer that serves on `signer.sock` until it is dropped or stopped.
pub(crate) struct FakeSigner {
    pub(crate) socket: PathBuf,
    shared: Arc<Shared>,
    task: Option<JoinHandle<()>>,
}

/// What survives a restart: keys, journal, and the script.
pub(crate) struct Shared {
    signer: Mutex<Signer>,
    script: Mutex<Script>,
}

/// Decides what becomes of each request; the state is what a test counts with.
type Script = Box<dyn FnMut(&Request) -> Reaction + Send>;

/// What the fake does with a request.
#[derive(Clone)]
pub(crate) enum Reaction {
    /// As a signer would.
    Answer,
    /// Says no.
    Refuse(Refusal),
    /// As a signer would, but answers only when told to.
    AnswerWhen(Arc<Notify>),
    /// Closes the connection; nothing is done.
    Close,
    /// Does it, then closes the connection without an answer.
    DoAndClose,
    /// Does it, then closes the connection in the middle of the answer.
    DoAndCloseMidReply,
    /// Does nothing, and answers this.
    Reply(Reply),
    /// Answers these bytes in place of a reply, as a frame.
    Frame(Vec<u8>),
    /// Writes these bytes as they are.
    Raw(Vec<u8>),
}

impl FakeSigner {
    /// Begins to serve in `folder`.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut fake = Self {
            socket: folder.join("signer.sock"),
            shared: Arc::new(Shared {
                signer: Mutex::new(Signer::new()),
                script: Mutex::new(Box::new(|_| Reaction::Answer)),
            }),
            task: None,
        };
        fake.serve();
        fake
    }

    /// Serves again after [`Self::stop`], with the same keys and journal.
    pub(crate) fn serve(&mut self) {
        let listener = UnixListener::bind(&self.socket).unwrap();
        self.task = Some(tokio::spawn(serve::accept(listener, Arc::clone(&self.shared))));
    }

    /// Ends all connections and takes the socket away.
    pub(crate) async fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            let _ = task.await;
        }
        let _ = std::fs::remove_file(&self.socket);
    }

    /// Sets what becomes of requests from now on.
    pub(crate) fn script(&self, script: impl FnMut(&Request) -> Reaction + Send + 'static) {
        *self.shared.script.lock().unwrap() = Box::new(script);
    }

    /// Keys, tokens and journal.
    pub(crate) fn signer(&self) -> MutexGuard<'_, Signer> {
        self.shared.signer.lock().unwrap()
    }
}

impl Drop for FakeSigner {
    fn drop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

/// A refusal with this code.
pub(crate) fn refusal(code: RefusalCode) -> Refusal {
    Refusal { code, rule: None, detail: "the fake says no".into(), retry_after_ms: None }
}
