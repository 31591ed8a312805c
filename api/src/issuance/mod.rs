//! From a request to a certificate and its record.

pub mod ca_certificate;
pub mod csr_request;
pub mod csr_text;
pub mod end_entity;
pub mod extensions;
pub mod issuing_ca;
pub mod name_constraints;
pub mod requested_extensions;
pub mod subject_key;
pub mod tbs;
