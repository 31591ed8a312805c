//! The service that users talk to: who may have which certificate, and its record.

mod asn1;
pub mod certificate;
pub mod inventory;
pub mod issuance;
pub mod name;
pub mod packaging;
pub mod routes;
