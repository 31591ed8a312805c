//! What stands in a certificate, as people read it, and what can happen to one.

mod algorithms;
pub mod certificate_policy;
pub mod extended_key_usage;
pub mod facts;
pub mod fields;
mod history_event;
pub mod key_usage;
mod moment;
mod pointers;

pub use certificate_policy::CertificatePolicy;
pub use extended_key_usage::ExtendedKeyUsage;
pub use facts::CertificateFacts;
pub use history_event::{HistoryEvent, NotAnEvent};
pub use key_usage::KeyUsage;
