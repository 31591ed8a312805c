//! The bounds that every target holds its inputs to: 100 ms of processor time and 64 MiB of memory.

mod bounds;
pub mod der;
pub mod draft;

pub use bounds::within_bounds;
