//! One task that records certificates: those that wait at the same time share a transaction, and
//! so one write to the disk.

use chancery_shared::fail_point;
use std::sync::{Arc, OnceLock};

use tokio::sync::{mpsc, oneshot};

use super::NewCertificate;
use super::insert::{Inserted, highest};
use crate::store::{Store, StoreError, Write};

/// Hands certificates to the task; it ends with the last handle.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct Writer(Arc<OnceLock<mpsc::Sender<Waiting>>>);

/// A handle for one call, bound to the store that the task writes to.
pub(in crate::store) struct Handle<'a> {
    pub(in crate::store) writer: &'a Writer,
    pub(in crate::store) store: &'a Store,
}

struct Waiting {
    new: NewCertificate,
    reply: oneshot::Sender<Result<Inserted, StoreError>>,
}

impl Handle<'_> {
    /// Waits until `new` is recorded and durable.
    pub(in crate::store) async fn insert(
        self,
        new: NewCertificate,
    ) -> Result<Inserted, StoreError> {
        let queue = self.writer.0.get_or_init(|| start(self.store.without_writer()));
        let (reply, answer) = oneshot::channel();
        queue.send(Waiting { new, reply }).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

fn start(store: Store) -> mpsc::Sender<Waiting> {
    let (queue, waiting) = mpsc::channel(QUEUE);
    tokio::spawn(run(store, waiting));
    queue
}

async fn run(store: Store, mut waiting: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut batch, BATCH).await > 0 {
        record(&store, &mut batch).await;
    }
}

/// Records all of `batch` in one transaction. If that fails, each gets one of its own, so that
/// nobody fails for another's sake.
async fn record(store: &Store, batch: &mut Vec<Waiting>) {
    let together = if batch.len() > 1 { all(store, batch).await.ok() } else { None };
    if let Some(results) = together {
        for (waiting, inserted) in batch.drain(..).zip(results) {
            // A caller that has gone away finds its certificate by its serial number.
            let _ = waiting.reply.send(Ok(inserted));
        }
        return;
    }
    for waiting in batch.drain(..) {
        let inserted = all(store, std::slice::from_ref(&waiting)).await;
        let inserted = inserted.and_then(|list| list.first().copied().ok_or(StoreError::Closed));
        let _ = waiting.reply.send(inserted);
    }
}

async fn all(store: &Store, batch: &[Waiting]) -> Result<Vec<Inserted>, StoreError> {
    let mut write = store.begin().await?;
    let mut results = Vec::with_capacity(batch.len());
    for waiting in batch {
        results.push(write.insert_certificate(&waiting.new).await?);
    }
    raise_heads(&mut write, batch).await?;
    fail_point::reach("api: inserted");
    write.commit_beside_inventory().await?;
    Ok(results)
}

/// Last in the transaction: on PostgreSQL every process waits for this row.
async fn raise_heads(write: &mut Write, batch: &[Waiting]) -> Result<(), StoreError> {
    let heads = batch.iter().filter_map(|waiting| waiting.new.certificate.journal.as_ref());
    for head in highest(heads) {
        write.raise_journal_head(&head).await?;
    }
    Ok(())
}

/// So many certificates share a transaction at most.
const BATCH: usize = 64;
/// So many wait for the next one; further callers wait to get in.
const QUEUE: usize = 256;
