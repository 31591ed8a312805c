//! From a request to a certificate and its record.

pub mod account;
mod asking;
pub mod ca_certificate;
pub mod context;
pub mod csr_issuance;
pub mod csr_request;
pub mod csr_text;
pub mod departures;
pub mod dn_issuance;
mod dn_request;
pub mod end_entity;
pub mod extensions;
pub mod extra;
pub mod issue;
pub mod issue_dn;
pub mod issue_error;
pub mod issuing_ca;
pub mod name_constraints;
pub mod new_record;
pub mod preview;
pub mod requested_extensions;
pub mod signing;
pub mod subject_key;
pub mod tbs;
pub mod under_way;
