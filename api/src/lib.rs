//! The service that users talk to: who may have which certificate, and its record.

pub mod app;
mod asn1;
pub mod certificate;
pub mod clock;
pub mod config;
pub mod error;
pub mod inventory;
pub mod issuance;
pub mod name;
pub mod packaging;
pub mod random;
pub mod routes;
pub mod signer_client;
pub mod store;
pub mod timestamp;
