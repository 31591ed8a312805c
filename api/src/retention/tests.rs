//! What may become of each item, and what becomes of it, on both engines.

mod agreement;
mod faults;
mod model;
mod operator;
mod purge;
mod purge_order;
mod removals;
mod rules;
pub(crate) mod scene;
mod transitions;
mod waiting;
