//! The routes, asked by personas through the real router.

mod access;
mod certs;
mod current_user;
mod login;
mod team_rule;
mod teams;
mod users;
