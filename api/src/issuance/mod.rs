//! From a request to a certificate and its record.

pub mod csr_text;
