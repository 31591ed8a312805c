//! The operator socket, from the operator's side.

mod certificate;
mod client;
mod shown;
mod words;

pub(crate) use client::OperatorSocket;
pub(crate) use words::words;
