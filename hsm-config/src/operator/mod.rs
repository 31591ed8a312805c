//! The operator socket, from the operator's side.

mod client;
mod words;

pub(crate) use client::OperatorSocket;
pub(crate) use words::words;
