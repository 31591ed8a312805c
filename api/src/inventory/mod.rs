//! What an administrator sets up: profiles, CAs, issuers and key stores.

pub mod ca_chain;
pub mod cert_issuer;
pub mod csr_generator;
pub mod key_store;
pub mod local_ca;
pub mod profile;
mod profile_ceiling;
pub mod profile_definition;
pub mod profile_names;
pub mod profile_values;
pub mod subject_rules;
