//! One task that records certificates: those that wait at the same time share a transaction, and
//! so one write to the disk.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chancery_shared::fail_point;
use chancery_shared::wire::JournalHead;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::NewCertificate;
use super::insert::{Inserted, highest};
use super::whole;
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
    new: Arc<NewCertificate>,
    reply: oneshot::Sender<Result<Inserted, StoreError>>,
}

impl Handle<'_> {
    /// Waits until `new` is recorded and durable.
    pub(in crate::store) async fn insert(
        self,
        new: Arc<NewCertificate>,
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
    let mut gather = Duration::ZERO;
    while !batch.is_empty() || waiting.recv_many(&mut batch, BATCH).await > 0 {
        // Where several come at a time more will come soon: waiting a little saves a commit.
        // Waiting longer than a commit takes would not, and who comes alone waits for nobody.
        if gather > Duration::ZERO && batch.len() < BATCH {
            tokio::time::sleep(gather).await;
            while batch.len() < BATCH
                && let Ok(another) = waiting.try_recv()
            {
                batch.push(another);
            }
        }
        // The others begin the next one.
        let together = whole::at_a_time(store.engine(), batch.len());
        let mut now: Vec<_> = batch.drain(..together).collect();
        let (began, several) = (Instant::now(), together > 1);
        record(&store, &mut now).await;
        gather = if several { began.elapsed().min(GATHER) } else { Duration::ZERO };
    }
}

/// Records all of `batch` in one transaction. Where some are there already, or one is at fault, each
/// gets one of its own, so that nobody fails for another's sake. Where the database is away, nobody
/// waits for it again.
async fn record(store: &Store, batch: &mut Vec<Waiting>) {
    fail_point::reach("api: records");
    let together = match all(store, batch).await {
        Ok(true) => Together::Recorded,
        Ok(false) => Together::NotTried,
        Err(StoreError::Unavailable { table, source }) => {
            let error = &source as &dyn std::error::Error;
            tracing::warn!(certificates = batch.len(), error, "nothing could be recorded");
            Together::Unavailable { table }
        }
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(error, "certificates are recorded one by one");
            Together::NotTried
        }
    };
    for waiting in batch.drain(..) {
        let inserted = match together {
            Together::Recorded => Ok(Inserted::New(waiting.new.certificate.id)),
            Together::Unavailable { table } => {
                Err(StoreError::of(table)(sqlx::Error::PoolTimedOut))
            }
            Together::NotTried => one(store, &waiting).await,
        };
        // A caller that has gone away finds its certificate by its serial number.
        let _ = waiting.reply.send(inserted);
    }
}

/// What came of a batch as a whole.
#[derive(Clone, Copy)]
enum Together {
    Recorded,
    /// Nobody knows whether; whoever offers its certificate again finds out.
    Unavailable {
        table: &'static str,
    },
    NotTried,
}

/// `false`, and nothing recorded, where one of them is there already.
async fn all(store: &Store, batch: &[Waiting]) -> Result<bool, StoreError> {
    let new: Vec<_> = batch.iter().map(|waiting| &*waiting.new).collect();
    if store.record_whole(&new, &heads(batch)).await? {
        return Ok(true);
    }
    if batch.len() == 1 {
        return Ok(false);
    }
    let mut write = store.begin().await?;
    if write.insert_certificate_rows(&new).await? != new.len() {
        return Ok(false);
    }
    write.insert_beside(&new).await?;
    commit(write, batch).await?;
    Ok(true)
}

async fn one(store: &Store, waiting: &Waiting) -> Result<Inserted, StoreError> {
    let mut write = store.begin().await?;
    let inserted = write.insert_certificate(&waiting.new).await?;
    commit(write, std::slice::from_ref(waiting)).await?;
    Ok(inserted)
}

async fn commit(mut write: Write, batch: &[Waiting]) -> Result<(), StoreError> {
    raise_heads(&mut write, batch).await?;
    let entries: Vec<_> = batch.iter().map(|waiting| &waiting.new.audit).collect();
    write.commit_with(&entries).await
}

/// Last in the transaction: on PostgreSQL every process waits for this row.
async fn raise_heads(write: &mut Write, batch: &[Waiting]) -> Result<(), StoreError> {
    for head in heads(batch) {
        write.raise_journal_head(&head).await?;
    }
    Ok(())
}

fn heads(batch: &[Waiting]) -> Vec<JournalHead> {
    highest(batch.iter().filter_map(|waiting| waiting.new.certificate.journal.as_ref()))
}

/// So many certificates share a transaction at most.
const BATCH: usize = whole::MOST;
/// A batch waits for more no longer than this.
const GATHER: Duration = Duration::from_millis(4);
/// So many wait for the next one; further callers wait to get in.
const QUEUE: usize = 256;
