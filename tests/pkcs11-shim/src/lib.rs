//! A PKCS#11 module that forwards to another one and does something else where it is told to.
//!
//! `SHIM_MODULE` names the module behind it, `SHIM_CONTROL` a file with orders (see [`Order`]).
//! The file is read at every call, so orders hold from the next call on, in every process.

mod forward;
mod order;

pub use forward::FUNCTIONS;
pub use order::{Action, Order};
