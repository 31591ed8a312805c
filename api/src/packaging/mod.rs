//! Certificates in the forms that people download.

pub mod file_name;
pub mod pem;
pub mod pkcs7;
