//! Certificates in the forms that people download.

pub mod pem;
