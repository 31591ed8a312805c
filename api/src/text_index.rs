//! Keeps the index of texts and numbers near the newest record, where the engine does not do so
//! by itself.

use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::store::{Store, StoreError};

/// Pause between two looks.
const EVERY: Duration = Duration::from_millis(500);
/// A search reads fewer than these itself, quickly; so do an import and a recovery.
const LEAST: u64 = 512;
/// So long as these are indexed, nothing else is written.
const MOST: u64 = 1024;

/// The job; it ends when it is stopped or dropped.
#[derive(Debug)]
pub struct TextIndexer {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl TextIndexer {
    /// Begins to look, now and then.
    pub fn start(store: Store) -> Self {
        let (stop, mut stopping) = watch::channel(false);
        let task = tokio::spawn(async move {
            while store.has_texts_to_index() && !*stopping.borrow() {
                match store.index_texts(LEAST, MOST).await {
                    // There may be more.
                    Ok(indexed) if indexed >= MOST => continue,
                    Ok(_) => {}
                    Err(error) => {
                        let error = crate::log::Chain(&error).to_string();
                        tracing::warn!(error, "texts are indexed later");
                    }
                }
                let pause = tokio::time::timeout(EVERY, stopping.wait_for(|stop| *stop)).await;
                if let Ok(Err(_)) = pause {
                    // Nobody is left who could stop it.
                    break;
                }
            }
        });
        Self { stop, task }
    }

    /// Lets the batch that runs end, then stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// Indexes all that there is, for whoever records many at once and runs no service.
///
/// # Errors
///
/// Only if the database fails.
pub async fn index_all(store: &Store) -> Result<(), StoreError> {
    while store.index_texts(1, MOST * 4).await? > 0 {}
    Ok(())
}
