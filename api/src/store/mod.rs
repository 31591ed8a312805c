//! The database: the only module that names `sqlx`.
//!
//! All SQL stands in named constants, one text for both engines; a test prepares each of them on
//! both. Moments are Unix milliseconds, flags 0 or 1, ids their 24 characters.

mod engine;
mod error;

pub use engine::{Store, Write};
pub use error::StoreError;
