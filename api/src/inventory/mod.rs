//! What an administrator sets up: users, teams, profiles, CAs, issuers and key stores.

pub mod api_token;
pub mod ca_chain;
pub mod cert_issuer;
pub mod csr_generator;
pub mod key_store;
pub mod local_ca;
pub mod own_address;
pub mod profile;
mod profile_ceiling;
mod profile_check;
pub mod profile_definition;
pub mod profile_names;
pub mod profile_values;
mod settle;
pub mod standing;
pub mod subject_rules;
pub mod team;
pub mod user;
pub mod view;

pub(crate) use settle::settle;

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
