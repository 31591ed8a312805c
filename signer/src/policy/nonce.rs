//! Each serial nonce counts once: the connection's nonce and a window of used counters.

use std::sync::{Mutex, PoisonError};

use chancery_shared::bytes::{ConnectionNonce, SerialNonce};

use super::violation::PolicyViolation;

/// How far a counter may lie behind the highest one seen, as requests may overtake each other.
const WINDOW: u64 = 4096;

/// Words of 64 bits that hold the window.
const WORDS: usize = 64;

/// The proof that a nonce is its connection's and was not used before.
///
/// Neither `Clone` nor constructible elsewhere: a check uses it up, so that a TBS can't be sent
/// twice.
///
/// ```compile_fail
/// let forged = chancery_signer::policy::ClaimedNonce(chancery_shared::bytes::Fixed([0; 40]));
/// ```
#[derive(Debug)]
pub struct ClaimedNonce(SerialNonce);

impl ClaimedNonce {
    /// For a request that was claimed before it was parked, and kept with its nonce.
    pub(crate) fn parked(nonce: SerialNonce) -> Self {
        Self(nonce)
    }

    /// The 40 bytes.
    #[must_use]
    pub fn nonce(&self) -> SerialNonce {
        self.0
    }
}

/// The serial nonces of one connection.
#[derive(Debug)]
pub struct ConnectionSerials {
    nonce: ConnectionNonce,
    window: Mutex<Window>,
}

impl ConnectionSerials {
    /// For a new connection, with the nonce that it was told.
    #[must_use]
    pub fn new(nonce: ConnectionNonce) -> Self {
        Self { nonce, window: Mutex::new(Window::default()) }
    }

    /// The part of every serial nonce that the signer chose for this connection.
    #[must_use]
    pub fn nonce(&self) -> ConnectionNonce {
        self.nonce
    }

    /// Marks `nonce` as used.
    ///
    /// # Errors
    ///
    /// It is not of this connection, was used before, or lies too far behind. Nothing is marked
    /// then.
    pub fn claim(&self, nonce: SerialNonce) -> Result<ClaimedNonce, PolicyViolation> {
        let connection = nonce.0.first_chunk::<16>();
        let counter = nonce.0.get(16..).and_then(|rest| rest.first_chunk::<8>());
        let (Some(connection), Some(counter)) = (connection, counter) else {
            return Err(PolicyViolation::NonceOfAnotherConnection);
        };
        if *connection != self.nonce.0 {
            return Err(PolicyViolation::NonceOfAnotherConnection);
        }
        // A panic while the lock was held can't leave the window half changed in a way that
        // lets a counter pass twice, so a poisoned lock is no reason to stop.
        let mut window = self.window.lock().unwrap_or_else(PoisonError::into_inner);
        window.mark(u64::from_be_bytes(*counter))?;
        Ok(ClaimedNonce(nonce))
    }
}

/// The anti-replay window of RFC 4303, section 3.4.3: one bit for each of the last counters.
#[derive(Debug)]
struct Window {
    /// The highest counter seen.
    highest: Option<u64>,
    /// Bit `counter % WINDOW`: used.
    used: [u64; WORDS],
}

impl Default for Window {
    fn default() -> Self {
        Self { highest: None, used: [0; WORDS] }
    }
}

impl Window {
    fn mark(&mut self, counter: u64) -> Result<(), PolicyViolation> {
        match self.highest {
            Some(highest) if counter <= highest => {
                if highest - counter >= WINDOW {
                    return Err(PolicyViolation::NonceTooOld);
                }
            }
            Some(highest) if counter - highest < WINDOW => {
                for passed in highest + 1..=counter {
                    *self.word(passed) &= !bit(passed);
                }
                self.highest = Some(counter);
            }
            _ => *self = Self { highest: Some(counter), ..Self::default() },
        }
        let word = self.word(counter);
        if *word & bit(counter) != 0 {
            return Err(PolicyViolation::NonceUsed);
        }
        *word |= bit(counter);
        Ok(())
    }

    #[expect(clippy::indexing_slicing, reason = "a remainder of 64 is below 64, the length")]
    fn word(&mut self, counter: u64) -> &mut u64 {
        &mut self.used[(counter / 64 % 64) as usize]
    }
}

fn bit(counter: u64) -> u64 {
    1 << (counter % 64)
}
