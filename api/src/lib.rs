//! The service that users talk to: who may have which certificate, and its record.

pub mod app;
mod asn1;
pub mod auth;
pub mod certificate;
pub mod clock;
pub mod config;
mod echo;
pub mod error;
pub mod first_start;
pub mod health;
pub mod inventory;
mod ip_white_list;
pub mod issuance;
pub mod issuer_choice;
pub mod json;
mod lease;
pub mod listener;
pub mod log;
pub mod metrics;
pub mod name;
pub mod openapi;
pub mod packaging;
pub mod random;
pub mod readiness;
pub mod reconcile;
mod reference;
pub mod request;
pub mod routes;
pub mod server_certificate;
pub mod service;
pub mod signer_client;
pub mod store;
pub mod team;
#[cfg(test)]
pub(crate) mod testing;
pub mod text_index;
pub mod timestamp;
