//! Where the signer is, and how long each thing may take.

use std::path::PathBuf;
use std::time::Duration;

/// How to reach the signer.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path of the signer's socket.
    pub socket: PathBuf,
    /// From the moment a request is sent to its answer; a little under the signer's own 30 s.
    pub request_within: Duration,
    /// To connect and be greeted.
    pub connect_within: Duration,
    /// What a question waits for while there is no connection: within a second it has an answer.
    pub wait_for_connection: Duration,
    /// What a question waits for while as many are in flight as the signer serves.
    pub wait_for_slot: Duration,
    /// How old the state may get.
    pub refresh_every: Duration,
    /// Without an answer to `hello` for so long the signer counts as unreachable; requests in
    /// flight still wait.
    pub quiet_for: Duration,
    /// Without an answer to `hello` for so long the connection is given up.
    pub silent_for: Duration,
    /// First and longest pause between two attempts to connect.
    pub back_off: (Duration, Duration),
}

impl Options {
    /// The shipped values, for the socket at `socket`.
    #[must_use]
    pub fn new(socket: PathBuf) -> Self {
        Self {
            socket,
            request_within: Duration::from_secs(29),
            connect_within: Duration::from_secs(5),
            wait_for_connection: Duration::from_millis(700),
            wait_for_slot: Duration::from_secs(10),
            refresh_every: Duration::from_secs(1),
            quiet_for: Duration::from_secs(3),
            silent_for: Duration::from_secs(10),
            back_off: (Duration::from_millis(50), Duration::from_secs(1)),
        }
    }
}
