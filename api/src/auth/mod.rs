//! Who is asking, and what they may.

pub mod actor;
pub mod api_token;
pub mod attempt;
pub mod bearer;
pub mod client_address;
pub mod gate;
pub mod password;
mod seats;
pub mod throttle;
pub mod token_keys;

pub(crate) use actor::check_again;
pub use actor::{Actor, Administrator, Authenticated};
