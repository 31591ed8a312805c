//! Makes key pairs beside the tasks that serve requests, as many at a time as there are processors.

use std::sync::Arc;
use std::time::Instant;

use aws_lc_rs::error::Unspecified;
use chancery_shared::wire::algorithm::KeyAlgorithm;
use tokio::sync::Semaphore;

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
    pool: Pool,
}

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum MakeError {
    /// Too many at once: come back later.
    #[error("too many keys are being made")]
    Busy,
    /// The crypto library made none.
    #[error("the crypto library made no key")]
    Crypto(#[from] Unspecified),
    /// The work was cut off; only while the process stops.
    #[error("the work was cut off")]
    CutOff,
}

impl KeyMaker {
    /// Room for as many keys at a time as there are processors, and a pool of this size.
    pub fn new(pool: PoolSize) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            turns: Arc::new(Semaphore::new(processors)),
            seats: Arc::new(Semaphore::new(processors + WAITING)),
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
        let seat = Arc::clone(&self.seats).try_acquire_owned().map_err(|_| MakeError::Busy)?;
        let work = move || {
            let began = Instant::now();
            let made = KeyPair::generate(algorithm);
            metrics::histogram!(
                "chancery_key_generation_duration_seconds", "key" => key_name(algorithm)
            )
            .record(began.elapsed().as_secs_f64());
            made
        };
        let made = self.work(work).await?;
        drop(seat);
        Ok(made?)
    }

    /// Does work that takes a processor, when there is one.
    ///
    /// # Errors
    ///
    /// [`MakeError::CutOff`].
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, MakeError> {
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|_| MakeError::CutOff)?;
        // The permit travels along: a caller that goes away doesn't free the processor.
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(turn);
            result
        });
        done.await.map_err(|_| MakeError::CutOff)
    }
}

/// Requests that may wait for a key: at 40 ms each for RSA 2048 some seconds' worth.
const WAITING: usize = 256;
