//! The signer as a library: the program `chancery-signer` runs it, `chancery-hsm` uses its token
//! and journal code offline.

pub mod clock;
pub mod journal;
pub mod policy;
pub mod token;
