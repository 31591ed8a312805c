//! What surrounds every request: its id, its line in the log, its limits, the shape of its errors.

mod body;
mod id;
mod layer;
mod path_id;
mod query;

pub(crate) use body::read_body;
pub use id::RequestId;
pub use layer::{Told, surround};
pub use path_id::PathId;
pub use query::{NoParameters, Query};

#[cfg(test)]
mod tests;
