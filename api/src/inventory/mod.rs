//! What an administrator sets up: profiles, CAs, issuers and key stores.

pub mod local_ca;
mod profile_ceiling;
pub mod cert_issuer;
pub mod profile_definition;
pub mod profile_names;
pub mod profile_values;
pub mod subject_rules;
