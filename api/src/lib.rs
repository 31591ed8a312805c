//! The service that users talk to: who may have which certificate, and its record.

pub mod signer_client;
