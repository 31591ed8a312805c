//! Makes key pairs beside the tasks that serve requests, as many at a time as there are processors.

use std::sync::Arc;
use std::time::Instant;

use aws_lc_rs::error::Unspecified;
use chancery_shared::wire::algorithm::KeyAlgorithm;
use tokio::sync::Semaphore;
use tokio::task::JoinError;

use super::KeyPair;
use super::pool::{Pool, PoolSize};
use crate::inventory::local_ca::algorithm::key_name;

/// Makes key pairs. Clones share the bounds.
#[derive(Clone, Debug)]
pub struct KeyMaker {
    /// A key takes a processor for as long as it takes.
    turns: Arc<Semaphore>,
    /// Who finds no seat comes back later: a queue without end would starve everyone in it.
    seats: Arc<Semaphore>,
    /// What is made of a certificate that is signed already waits for no key of others.
    benches: Arc<Semaphore>,
    pool: Pool,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// Too many at once: come back later.
    #[error("too many keys are being made")]
    Busy,
    /// The service stops, and begins no key that takes long.
    #[error("the service is stopping")]
    Stopping,
    /// The crypto library made none.
    #[error("the crypto library made no key")]
    Crypto(#[from] Unspecified),
    /// The work was cut off: by a fault of ours, or while the process ends.
    #[error("the work was cut off")]
    CutOff(#[source] JoinError),
}

impl KeyMaker {
    /// Room for as many keys at a time as there are processors, and a pool of this size.
    pub fn new(pool: PoolSize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            turns: Arc::new(Semaphore::new(processors)),
            seats: Arc::new(Semaphore::new(processors + WAITING)),
            benches: Arc::new(Semaphore::new(processors)),
            pool: Pool::new(pool),
        }
    }

    /// A new key pair of this kind, at once where one is ready.
    ///
    /// # Errors
    ///
    /// See [`MakeError`].
    pub async fn make(&self, algorithm: KeyAlgorithm) -> Result<KeyPair, MakeError> {
        if let Some(ready) = self.pool.take(algorithm) {
            return Ok(ready);
        }
        let seat = Arc::clone(&self.seats).try_acquire_many_owned(seats(algorithm));
        let seat = seat.map_err(|_| MakeError::Busy)?;
        let work = move || {
            let began = Instant::now();
            let made = KeyPair::generate(algorithm);
            metrics::histogram!(
                "chancery_key_generation_duration_seconds", "key" => key_name(algorithm)
            )
            .record(began.elapsed().as_secs_f64());
            made
        };
        // An EC key takes next to nothing, and waits for no RSA key.
        let is_quick = !super::pool::is_pooled(algorithm);
        let made = on(if is_quick { &self.benches } else { &self.turns }, work).await?;
        drop(seat);
        Ok(made?)
    }

    /// Sends away who waits for an RSA key, and who comes for one that is not ready: a service that
    /// stops has a few seconds for all of its answers.
    pub fn stop(&self) {
        self.turns.close();
    }

    /// Does what comes after a signature and takes a processor, when there is one.
    ///
    /// # Errors
    ///
    /// [`MakeError::CutOff`]. It goes on while the service stops.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, MakeError> {
        on(&self.benches, work).await
    }
}

async fn on<T: Send + 'static>(
    processors: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, MakeError> {
    let permit = Arc::clone(processors).acquire_owned().await;
    let permit = permit.map_err(|_| MakeError::Stopping)?;
    // The permit travels along: a caller that goes away doesn't free the processor.
    let done = tokio::task::spawn_blocking(move || {
        let result = work();
        drop(permit);
        result
    });
    done.await.map_err(MakeError::CutOff)
}

/// Seats in the queue: at some 40 ms each a few seconds' worth.
const WAITING: usize = 256;

/// What a key of this kind takes on average, in seats: the fourth power of its length.
fn seats(algorithm: KeyAlgorithm) -> u32 {
    match algorithm {
        KeyAlgorithm::Rsa3072 => 5,
        KeyAlgorithm::Rsa4096 => 16,
        KeyAlgorithm::Rsa2048
        | KeyAlgorithm::EcdsaP256
        | KeyAlgorithm::EcdsaP384
        | KeyAlgorithm::EcdsaP521
        | KeyAlgorithm::Ed25519 => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt as _;

    #[tokio::test]
    async fn a_stop_sends_away_who_waits_for_an_rsa_key_and_nobody_whose_key_is_made() {
        let maker = KeyMaker::new(PoolSize { keys: 0, per_minute: 1 });
        let all = u32::try_from(maker.turns.available_permits()).unwrap();
        let taken = maker.turns.acquire_many(all).await.unwrap();
        let mut waiting = Box::pin(maker.make(KeyAlgorithm::Rsa2048));
        assert!(waiting.as_mut().now_or_never().is_none());

        maker.stop();

        assert!(matches!(waiting.await, Err(MakeError::Stopping)));
        let late = maker.make(KeyAlgorithm::Rsa2048).await;
        assert!(matches!(late, Err(MakeError::Stopping)));
        assert_eq!(maker.work(|| 7).await.unwrap(), 7);
        drop(taken);
    }
}
