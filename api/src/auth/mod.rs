//! Who is asking, and what they may.

pub mod actor;
pub mod bearer;
pub mod gate;
pub mod password;
pub mod token_keys;

pub use actor::{Actor, Administrator, Authenticated};
