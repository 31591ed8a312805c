//! From a request to a certificate and its record.

pub mod csr_request;
pub mod csr_text;
pub mod requested_extensions;
pub mod subject_key;
mod weak_modulus;
