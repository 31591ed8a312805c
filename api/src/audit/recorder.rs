//! Records what has no write of its own: refusals, and successes that changed nothing. Answers do
//! not wait for it, and those that come together share a transaction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use time::OffsetDateTime;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::Origin;
use super::coalesce::Coalescer;
use super::entry::{blank, of_answer};
use crate::error::Code;
use crate::store::Store;
use crate::store::audit::{AuditEntry, SYSTEM};

/// Takes entries. Clones share one queue.
#[derive(Clone, Debug)]
pub struct Recorder {
    queue: mpsc::Sender<Said>,
    lost: Arc<AtomicU64>,
}

/// The task behind it; it ends with [`Self::stop`].
#[derive(Debug)]
pub struct Recording {
    recorder: Recorder,
    task: JoinHandle<()>,
}

#[derive(Debug)]
enum Said {
    Entry(Box<AuditEntry>),
    /// Record everything now, also what waits for the end of its minute.
    Flush(oneshot::Sender<()>),
    Stop,
}

impl Recorder {
    /// Starts the task.
    pub fn start(store: Store) -> (Self, Recording) {
        let (queue, said) = mpsc::channel(QUEUE);
        let recorder = Self { queue, lost: Arc::default() };
        let task = tokio::spawn(run(store, said, Arc::clone(&recorder.lost)));
        let recording = Recording { recorder: recorder.clone(), task };
        (recorder, recording)
    }

    /// Tells of an answer, if nothing has told of it yet and an auditor would ask: of every refusal
    /// to change something, of every refusal for want of a right, and of what succeeded and is no
    /// mere reading.
    pub fn answered(&self, origin: &Origin, now: OffsetDateTime, refused: Option<Code>) {
        let is_told = match refused {
            None => origin.operation.is_told && !origin.has_entry(),
            Some(code) => {
                origin.operation.is_told || matches!(code.status().as_u16(), 401 | 403 | 429)
            }
        };
        if !is_told {
            return;
        }
        let entry = Box::new(of_answer(origin, now, refused));
        if self.queue.try_send(Said::Entry(entry)).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until everything that was told is recorded.
    pub async fn flush(&self) {
        let (done, is_done) = oneshot::channel();
        if self.queue.send(Said::Flush(done)).await.is_ok() {
            let _ = is_done.await;
        }
    }
}

impl Recording {
    /// Records what is left, and ends.
    pub async fn stop(self) {
        let _ = self.recorder.queue.send(Said::Stop).await;
        let _ = self.task.await;
    }
}

async fn run(store: Store, mut said: mpsc::Receiver<Said>, lost: Arc<AtomicU64>) {
    let mut coalescer = Coalescer::default();
    let mut batch = Vec::with_capacity(BATCH);
    let mut minute_ends = Instant::now() + MINUTE;
    loop {
        let is_idle = !coalescer.is_waiting();
        tokio::select! {
            count = said.recv_many(&mut batch, BATCH) => if count == 0 { return },
            () = sleep_until(minute_ends), if !is_idle => {}
        }
        let (mut entries, mut flushed, mut stops) = (Vec::new(), Vec::new(), false);
        for said in batch.drain(..) {
            match said {
                Said::Entry(entry) => {
                    if !coalescer.is_waiting() {
                        minute_ends = Instant::now() + MINUTE;
                    }
                    entries.extend(coalescer.take(*entry));
                }
                Said::Flush(done) => flushed.push(done),
                Said::Stop => stops = true,
            }
        }
        if stops || !flushed.is_empty() || Instant::now() >= minute_ends {
            entries.extend(coalescer.end());
        }
        record(&store, entries, &lost).await;
        for done in flushed {
            let _ = done.send(());
        }
        if stops {
            return;
        }
    }
}

async fn record(store: &Store, mut entries: Vec<AuditEntry>, lost: &AtomicU64) {
    let Some(newest) = entries.last() else { return };
    // The gap is told in the audit itself, as soon as it takes entries again.
    let missing = lost.swap(0, Ordering::Relaxed);
    let happened_at = newest.happened_at;
    if missing > 0 {
        entries.push(AuditEntry {
            username: Some(SYSTEM.to_owned()),
            action: "lose entries".into(),
            object_kind: "audit".into(),
            times: u32::try_from(missing).unwrap_or(u32::MAX),
            ..blank(happened_at)
        });
    }
    if let Err(error) = store.add_audit_entries(&entries).await {
        let count = u64::try_from(entries.len()).unwrap_or(u64::MAX);
        metrics::counter!("chancery_audit_lost_total").increment(count);
        let told = u64::from(missing > 0);
        lost.fetch_add(missing + count - told, Ordering::Relaxed);
        let error = crate::log::Chain(&error).to_string();
        tracing::error!(entries = count, error, "refusals could not be recorded in the audit");
    }
}

/// So many wait for the next transaction; a refusal beyond is lost, and counted.
const QUEUE: usize = 4096;
const BATCH: usize = 64;
const MINUTE: Duration = Duration::from_mins(1);
