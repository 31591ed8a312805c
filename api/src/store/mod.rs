//! The database: the only module that names `sqlx`.
//!
//! Reads are methods of [`Store`], writes are methods of [`Write`], a transaction. All SQL stands
//! in named constants made by `statements!`, one text for both engines; a test prepares each of
//! them on both. Moments are Unix milliseconds, flags 0 or 1, ids their 24 characters.

/// Names the SQL of a file, and lists it for the test that prepares it on both engines.
macro_rules! statements {
    ($($(#[$doc:meta])* $visibility:vis $name:ident = $sql:expr;)*) => {
        $($(#[$doc])* $visibility const $name: &str = $sql;)*
        #[cfg(test)]
        pub(in crate::store) const STATEMENTS: &[(&str, &str)] =
            &[$((stringify!($name), $name)),*];
    };
}

#[macro_use]
mod columns;

pub mod account;
pub mod api_process;
pub mod api_token;
pub mod audit;
pub mod authorised_ca;
pub mod cert_issuer;
pub mod certificate;
pub mod csr_generator;
pub mod ended_token;
mod engine;
mod error;
mod health;
pub mod installation;
pub mod inventory_version;
pub mod journal_head;
pub mod key_data;
pub mod key_store;
pub mod lease;
pub mod local_ca;
mod loss;
mod many_rows;
pub mod membership;
pub mod profile;
pub mod retention;
mod row;
mod schema;
mod seat;
pub mod setting;
pub mod team;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod write;

pub use engine::Store;
pub use error::StoreError;
pub use write::{Unaudited, Write};
