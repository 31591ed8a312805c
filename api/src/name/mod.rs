//! Names in certificates: distinguished names and subject alternative names.

pub mod attribute_type;
pub mod common_name;
mod directory_string;
pub mod distinguished_name;
pub mod dn_text;
pub mod dns_name;
pub mod email_address;
pub mod general_name;
pub mod string_types;
pub mod subject_alt_name;
pub mod subject_rules;
pub mod uri;

pub(crate) use directory_string::{decode as decode_string, is_invisible};
pub use distinguished_name::DistinguishedName;
pub use subject_alt_name::SubjectAltName;
pub use subject_rules::NameProblem;
