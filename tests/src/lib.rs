//! The whole product under test: both programs as two users, a real token, both databases.
//!
//! [`Installation::start`] makes a home of its own in a temporary folder, starts signer and API on
//! it and waits until they are ready; dropping it ends every process and removes the folder.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a test that can't go on panics, and says what it waited for"
)]

pub mod client;
pub mod clock;
pub mod connection;
pub mod database;
pub mod forge;
pub mod full_disk;
pub mod home;
pub mod installation;
pub mod invariants;
pub mod issue;
pub mod load;
pub mod openssl;
pub mod output;
pub mod patience;
pub mod peer;
mod persona;
mod port;
pub mod postgres_server;
pub mod program;
pub mod programs;
pub mod reading;
pub mod run_script;
pub mod sabotage;
pub mod second_api;
pub mod signer_ca;
pub mod signer_home;
pub mod source;
mod token_objects;

pub use client::{Answer, Client};
pub use database::Engine;
pub use installation::{Installation, Plan};
pub use issue::{ISSUER, Issued};

/// Makes one test for each database from a function that takes an [`Engine`].
///
/// ```
/// mod tests {
///     chancery_tests::on_both_engines! {
///         /// What is to be shown.
///         fn engines_have_names(engine) { assert!(!format!("{engine:?}").is_empty()); }
///     }
/// }
/// ```
#[macro_export]
macro_rules! on_both_engines {
    ($($(#[$attribute:meta])* fn $name:ident($engine:ident) $body:block)*) => { $(
        #[cfg(test)]
        mod $name {
            #[expect(unused_imports, reason = "a body may use nothing of the file")]
            use super::*;

            $(#[$attribute])*
            fn on($engine: $crate::Engine) $body

            #[test]
            fn on_sqlite() {
                on($crate::Engine::Sqlite);
            }

            #[test]
            fn on_postgres() {
                on($crate::Engine::Postgres);
            }
        }
    )* };
}
