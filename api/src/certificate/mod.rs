//! What stands in a certificate, as people read it.

pub mod certificate_policy;
pub mod extended_key_usage;
pub mod key_usage;

pub use certificate_policy::CertificatePolicy;
pub use extended_key_usage::ExtendedKeyUsage;
pub use key_usage::KeyUsage;
