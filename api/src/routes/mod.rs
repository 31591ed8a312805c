//! The JSON API, one file per group of paths: thin, the work is done elsewhere.

pub mod api_tokens;
pub mod audit;
pub mod ca;
pub mod certs;
pub mod current_user;
pub mod generators;
pub mod json;
pub mod keystores;
pub mod localca;
pub mod login;
mod paging;
pub mod profiles;
pub mod record;
mod retained;
pub mod settings;
pub mod status;
pub mod teams;
pub mod users;
mod validate;

#[cfg(test)]
mod tests;
