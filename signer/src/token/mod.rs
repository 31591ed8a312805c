//! The PKCS#11 token: where a checked and recorded TBS becomes a signature.
//!
//! Peer:     the vendor's library, in child processes that this module starts and replaces.
//! Trusts:   neither the library to return nor a signature before it is verified.
//! Promises: every request is answered in bounded time; a token that comes back signs again by
//!           itself; no PIN is tried twice once it was refused.
//! Never:    gives a signature over anything but a [`crate::journal::RecordedTbs`], and never
//!           puts a PIN into arguments, environment or logs.

mod backoff;
mod ca_key;
mod calls;
mod config;
mod contents;
mod copies;
mod epoch;
mod error;
mod hand_over;
mod handle;
mod in_flight;
mod initialise;
mod job;
mod key_creation;
mod key_handles;
mod key_protocol;
mod key_task;
mod key_template;
mod key_worker;
mod loss;
mod mechanism;
mod open;
mod opening;
mod pin;
mod protocol;
mod public_key;
mod recovery;
mod seal;
mod secret;
mod serving;
pub mod setup;
mod signing_worker;
mod status;
mod supervisor;
mod system_call_filter;
#[cfg(test)]
mod tests;
mod worker;
mod worker_process;
mod worker_sandbox;

pub use ca_key::{CaKey, Signature, SigningFailed};
pub use config::{Sandbox, SystemCalls, TokenConfig};
pub use error::{CkrName, TokenError};
pub use handle::Token;
pub use key_protocol::SweepReport;
pub use secret::Secret;
pub use status::Standing;
pub use worker::run_worker_if_asked;
