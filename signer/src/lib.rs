//! The signer as a library: the program `chancery-signer` runs it, `chancery-hsm` uses its token
//! and journal code offline.

pub mod admission;
pub mod approval;
pub mod budget;
pub mod clock;
pub mod clock_guard;
pub mod config;
mod durable;
pub mod journal;
pub mod keyring;
pub mod limits;
pub mod operator;
pub mod policy;
mod random;
pub mod refusal;
pub mod refusals;
pub mod request;
mod request_envelope;
pub mod sandbox;
pub mod service;
pub mod signer;
pub mod socket;
pub mod startup;
pub mod token;
