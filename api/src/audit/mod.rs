//! What the audit says of what is done: who, from where, what, on what, with which result.
//!
//! A write takes its entry along: [`AppState::audited`](crate::app::App::audited) begins one, and
//! [`Write::commit`](crate::store::Write::commit) does not compile without. What was refused, and
//! what succeeded without writing anything, is told by the layer around all routes.

mod coalesce;
mod entry;
mod item;
mod operation;
mod origin;
mod recorder;
#[cfg(test)]
mod tests;

pub use entry::AuditDraft;
pub use item::{Item, with_new_password};
pub use operation::Operation;
pub use origin::{Asker, Origin, carried, within};
pub use recorder::{Recorder, Recording};

pub(crate) use origin::{belongs_to, name_subject, name_token, only_reads};
