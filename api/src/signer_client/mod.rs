//! The signer as the API sees it: the only module that opens its socket.
//!
//! Peer:     the signer, known by the path of its socket, which only it can have bound.
//! Trusts:   its answers, as far as they are of the shape that the wire has.
//! Promises: every question ends, in an answer or in an error that says what may have happened.
//! Never:    asks a second time for what may have been signed the first time.

mod connection;
mod error;
mod heads;
mod lifeline;
mod operations;
mod options;
mod serial;
mod state;

use std::sync::Arc;

use tokio::sync::{Notify, watch};
use tokio::time::timeout;

pub use error::SignerError;
pub use heads::{HeadsUnknown, JournalHeads};
pub use operations::{Journaled, KeyChanging, Signing};
pub use options::Options;
pub use serial::ConnectionHandle;
pub use state::SignerState;

use connection::Connection;
use lifeline::Lifeline;

use crate::random::Random;

#[cfg(test)]
pub(crate) mod fake_signer;
#[cfg(test)]
mod tests;

/// A handle to the one connection to the signer, which is made again whenever it is lost.
#[derive(Clone)]
pub struct SignerClient {
    shared: Arc<Shared>,
    // Ends the background task with the last handle.
    _lifeline: Arc<Lifeline>,
}

/// What the handles and the background task have in common.
struct Shared {
    options: Options,
    heads: Arc<dyn JournalHeads>,
    random: Arc<dyn Random>,
    link: watch::Sender<Option<Arc<Connection>>>,
    state: watch::Sender<SignerState>,
    /// Asks for a fresh look at the signer's state.
    refresh: Notify,
}

impl SignerClient {
    /// Begins to connect, in the background, and never ends trying.
    ///
    /// `heads` is asked before each `hello`; `random` is the API's cryptographic source.
    #[must_use]
    pub fn start(options: Options, heads: Arc<dyn JournalHeads>, random: Arc<dyn Random>) -> Self {
        let shared = Arc::new(Shared {
            options,
            heads,
            random,
            link: watch::Sender::new(None),
            state: watch::Sender::new(SignerState::unknown()),
            refresh: Notify::new(),
        });
        let lifeline = Arc::new(Lifeline::start(Arc::clone(&shared)));
        Self { shared, _lifeline: lifeline }
    }

    /// What the signer last said of itself; at most about a second old while it is reachable.
    #[must_use]
    pub fn state(&self) -> SignerState {
        self.shared.state.borrow().clone()
    }

    /// Follows the state, for those who wait for the signer.
    #[must_use]
    pub fn watch_state(&self) -> watch::Receiver<SignerState> {
        self.shared.state.subscribe()
    }

    /// The connection, waiting a moment for one that is being made.
    async fn connection(&self) -> Result<Arc<Connection>, SignerError> {
        let mut link = self.shared.link.subscribe();
        let is_open = |link: &Option<Arc<Connection>>| link.as_ref().is_some_and(|c| c.is_open());
        match timeout(self.shared.options.wait_for_connection, link.wait_for(is_open)).await {
            Ok(Ok(connection)) => connection.clone().ok_or(SignerError::Unreachable),
            Ok(Err(_)) | Err(_) => Err(SignerError::Unreachable),
        }
    }
}

impl std::fmt::Debug for SignerClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SignerClient").field("state", &self.state()).finish_non_exhaustive()
    }
}
