//! The JSON interface: what its messages look like.

pub mod json;
pub mod record;
pub mod timestamp;
