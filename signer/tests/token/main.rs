//! The token module with real SoftHSM2 tokens, through its public interface.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod pin;
#[cfg(test)]
mod support;
#[cfg(test)]
mod worker;
