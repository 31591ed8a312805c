//! What may become of each item, and what becomes of it, on both engines.

mod faults;
mod rules;
mod scene;
mod transitions;
