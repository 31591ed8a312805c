//! The service that users talk to: who may have which certificate, and its record.

pub mod app;
pub mod clock;
pub mod config;
pub mod error;
pub mod random;
pub mod signer_client;
pub mod store;
pub mod timestamp;
