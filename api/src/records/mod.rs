//! Records of certificates after their issuance: changed, deleted, and taken in from elsewhere.

pub mod details;
pub mod import;
pub mod permission;
pub mod removal;
pub mod visibility;
