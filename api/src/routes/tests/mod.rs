//! The routes, asked by personas through the real router.

mod access;
mod audit;
mod ca;
mod certs;
mod current_user;
mod echoes;
mod generators;
mod keystores;
mod localca;
mod login;
mod profiles;
mod settings;
mod team_rule;
mod teams;
mod users;
