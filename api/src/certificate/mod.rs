//! What stands in a certificate, as people read it, and the record of it.

mod algorithms;
pub mod certificate_policy;
pub mod extended_key_usage;
mod extension_oid;
pub mod facts;
pub mod fields;
pub mod history;
pub mod key_usage;
mod moment;
mod pointers;
pub mod recorded_facts;
pub mod revocation_reason;
pub mod text_filter;

pub use certificate_policy::CertificatePolicy;
pub use extended_key_usage::ExtendedKeyUsage;
pub use facts::CertificateFacts;
pub use key_usage::KeyUsage;
pub use moment::is_over;
pub use recorded_facts::RecordedFacts;
pub use revocation_reason::RevocationReason;
