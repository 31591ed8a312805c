//! The routes, asked by personas through the real router.

mod access;
mod api_tokens;
mod at_once;
mod audit;
mod ca;
mod certs;
mod current_user;
mod echoes;
mod generators;
mod http_cases;
mod issuer_changes;
mod keystores;
mod localca;
mod login;
mod login_timing;
mod matrix;
mod profiles;
mod settings;
mod team_changes;
mod team_rule;
mod teams;
mod throttle;
mod token_cases;
mod user_changes;
mod users;
mod visibility;
