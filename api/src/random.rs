//! Randomness, as a parameter, and the ids that are made of it.

use chancery_shared::id::Id;

use crate::clock::Clock;

/// Where random bytes come from.
pub trait Random: Send + Sync {
    /// Fills `bytes` from a cryptographic source.
    fn fill(&self, bytes: &mut [u8]);
}

/// The source of the crypto backend.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemRandom;

impl Random for SystemRandom {
    fn fill(&self, bytes: &mut [u8]) {
        if aws_lc_rs::rand::fill(bytes).is_err() {
            // Ids, tokens and keys made without randomness would do harm that no error undoes.
            tracing::error!("the operating system gives no random bytes; the process ends");
            std::process::abort();
        }
    }
}

/// A new id: time-ordered head, unguessable tail.
pub fn id<Kind>(clock: &dyn Clock, random: &dyn Random) -> Id<Kind> {
    let mut tail = [0; 6];
    random.fill(&mut tail);
    Id::new(clock.now(), tail)
}

/// Counts up, so that tests can name the ids they get.
#[cfg(test)]
#[derive(Debug, Default)]
pub struct TestRandom(std::sync::atomic::AtomicU64);

#[cfg(test)]
impl Random for TestRandom {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
            chunk.copy_from_slice(&next.to_be_bytes()[8 - chunk.len()..]);
        }
    }
}
