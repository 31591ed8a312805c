//! What surrounds every request: its id, its line in the log, its limits, the shape of its errors.

mod body;
mod id;
mod layer;
mod parameters;
mod path_id;
mod query;
mod unread;

pub(crate) use body::read_body;
pub use id::RequestId;
pub use layer::{Told, surround};
pub use parameters::{Parameters, refuse_unknown};
pub use path_id::PathId;
pub use query::Query;

#[cfg(test)]
mod tests;
