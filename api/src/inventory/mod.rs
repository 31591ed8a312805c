//! What an administrator sets up: profiles, CAs, issuers and key stores.

pub mod ca_chain;
pub mod cert_issuer;
pub mod csr_generator;
pub mod key_store;
pub mod local_ca;
pub mod profile;
mod profile_ceiling;
mod profile_check;
pub mod profile_definition;
pub mod profile_names;
pub mod profile_values;
pub mod subject_rules;

use crate::echo::cut;
use crate::error::{ApiError, Code};

/// The refusal of a name that a live item of this `kind` has.
fn name_taken(field: &str, kind: &str, name: &str) -> ApiError {
    let message = format!("there is a {kind} {name} already; choose another name");
    ApiError::refused_field(Code::NameTaken, field, message)
}

/// The refusal of a field that names no live item of this `kind`.
fn unknown_reference(field: &str, kind: &str, named: &str) -> ApiError {
    let message = format!("{} is neither id nor name of a {kind}", cut(named));
    ApiError::refused_field(Code::UnknownReference, field, message)
}

/// Leaves each element once, the first where it stands.
pub(crate) fn keep_first<T: PartialEq>(list: &mut Vec<T>) {
    let mut kept = Vec::with_capacity(list.len());
    for element in list.drain(..) {
        if !kept.contains(&element) {
            kept.push(element);
        }
    }
    *list = kept;
}
