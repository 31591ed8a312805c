//! Version 1 of the API socket's operations.
//!
//! Frozen with the first release: a change that alters `shared/tests/golden` is a new version.

mod reply;
mod request;

pub use reply::*;
pub use request::*;

/// The number of this version in the envelope.
pub const VERSION: u32 = 1;
