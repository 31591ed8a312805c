//! Requests that policy lets pass and that wait for the operator all the same.
//!
//! Each is a file of its own in `signer/approvals`, on disk before the client hears of it. A
//! decision is in the file as begun, then in the journal, then in the file as done: whatever cuts
//! it off in between, the journal says what came of it. One that came to nothing for a reason that
//! passes by itself waits again.

mod parked;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use chancery_shared::id::ApprovalId;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

pub use parked::{Fate, ParkedRequest};

use crate::journal::Decided;

/// How many may wait at once.
pub const MAX_WAITING: usize = 100;

/// A summary has at most this many bytes.
pub const MAX_SUMMARY: usize = 400;

/// The parked requests of one signer.
#[derive(Debug)]
pub struct Approvals {
    folder: PathBuf,
    parked: Mutex<BTreeMap<ApprovalId, Arc<ParkedRequest>>>,
    /// Held from the look at what waits until the change is on disk.
    changing: tokio::sync::Mutex<()>,
}

/// Why a decision has no effect, or a request is not parked.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    /// No such approval.
    #[error("there is no such approval")]
    Unknown,
    /// Decided, expired or being done.
    #[error("the approval is no longer open")]
    Closed,
    /// As many wait as may.
    #[error("{MAX_WAITING} requests are waiting already")]
    Full,
    /// Its file can't be written: nothing was decided.
    #[error("the approval could not be written")]
    Io(#[from] io::Error),
}

/// A place among those that wait, taken before the journal is told, and by one request at a time.
#[derive(Debug)]
pub struct Place<'a> {
    approvals: &'a Approvals,
    _alone: tokio::sync::MutexGuard<'a, ()>,
}

impl Approvals {
    /// Reads every parked request. `decided` finds what came of one whose decision was cut off,
    /// above that entry of the journal. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// The folder or one of its files can't be used, or the journal can't be asked.
    pub fn open<E: From<io::Error>>(
        folder: PathBuf,
        now: OffsetDateTime,
        decided: impl Fn(&ParkedRequest, u64) -> Result<Decided, E>,
    ) -> Result<Self, E> {
        std::fs::create_dir_all(&folder)?;
        let mut parked = BTreeMap::new();
        for file in std::fs::read_dir(&folder)? {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let mut request = ParkedRequest::read(&path)?;
            if let Fate::Deciding { after } = request.fate {
                request.fate = decided(&request, after)?.into();
                request.write(&folder)?;
            }
            if request.is_forgotten(now) {
                std::fs::remove_file(&path)?;
            } else {
                parked.insert(request.approval_id, Arc::new(request));
            }
        }
        let (parked, changing) = (Mutex::new(parked), tokio::sync::Mutex::default());
        Ok(Self { folder, parked, changing })
    }

    /// Takes a place for a request that is to wait.
    ///
    /// # Errors
    ///
    /// [`ApprovalError::Full`].
    pub async fn place(&self, now: OffsetDateTime) -> Result<Place<'_>, ApprovalError> {
        let alone = self.changing.lock().await;
        if self.waiting(now).len() >= MAX_WAITING {
            return Err(ApprovalError::Full);
        }
        Ok(Place { approvals: self, _alone: alone })
    }

    /// Takes a waiting request out of the waiting ones until [`Approvals::end`]; what comes of it
    /// is to be journaled above `after`.
    ///
    /// # Errors
    ///
    /// It is unknown, no longer open, or the disk refused.
    pub async fn begin(
        &self,
        approval_id: ApprovalId,
        now: OffsetDateTime,
        after: u64,
    ) -> Result<Arc<ParkedRequest>, ApprovalError> {
        let _alone = self.changing.lock().await;
        let request = self.find(approval_id).ok_or(ApprovalError::Unknown)?;
        if !request.is_waiting(now) {
            return Err(ApprovalError::Closed);
        }
        let fate = Fate::Deciding { after };
        self.write(ParkedRequest { fate, ..ParkedRequest::clone(&request) }).await?;
        Ok(request)
    }

    /// Says what came of a request that was begun; [`Fate::Waiting`] if nothing did.
    ///
    /// # Errors
    ///
    /// The disk refused; in memory the fate stands, and the next start asks the journal.
    pub async fn end(&self, approval_id: ApprovalId, fate: Fate) -> Result<(), ApprovalError> {
        let _alone = self.changing.lock().await;
        let request = self.find(approval_id).ok_or(ApprovalError::Unknown)?;
        let ended = ParkedRequest { fate, ..ParkedRequest::clone(&request) };
        self.parked().insert(approval_id, Arc::new(ended.clone()));
        Ok(self.write(ended).await?)
    }

    /// Lets go of those that ended so long ago that nobody asks any more.
    pub async fn prune(&self, now: OffsetDateTime) {
        let forgotten = |parked: &BTreeMap<_, Arc<ParkedRequest>>| {
            parked.values().filter(|request| request.is_forgotten(now)).cloned().collect::<Vec<_>>()
        };
        if forgotten(&self.parked()).is_empty() {
            return;
        }
        let _alone = self.changing.lock().await;
        let forgotten = forgotten(&self.parked());
        for request in forgotten {
            self.parked().remove(&request.approval_id);
            let path = request.path(&self.folder);
            // A file that stays is tried again at the next start.
            if let Err(error) = on_disk(move || std::fs::remove_file(path)).await {
                let approval_id = request.approval_id;
                tracing::warn!(%approval_id, %error, "an old approval could not be removed");
            }
        }
    }

    /// The request of that id, whatever became of it.
    #[must_use]
    pub fn find(&self, approval_id: ApprovalId) -> Option<Arc<ParkedRequest>> {
        self.parked().get(&approval_id).cloned()
    }

    /// What waits, oldest first.
    #[must_use]
    pub fn waiting(&self, now: OffsetDateTime) -> Vec<Arc<ParkedRequest>> {
        let parked = self.parked();
        let waiting = parked.values().filter(|request| request.is_waiting(now));
        let mut waiting: Vec<_> = waiting.cloned().collect();
        // An id has the second; within one it is random.
        waiting.sort_by_key(|request| request.parked_at);
        waiting
    }

    /// The file first, then the memory: what the disk refused is as it was.
    async fn write(&self, request: ParkedRequest) -> io::Result<()> {
        let folder = self.folder.clone();
        let request = Arc::new(request);
        let written = Arc::clone(&request);
        on_disk(move || written.write(&folder)).await?;
        self.parked().insert(request.approval_id, request);
        Ok(())
    }

    fn parked(&self) -> std::sync::MutexGuard<'_, BTreeMap<ApprovalId, Arc<ParkedRequest>>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place<'_> {
    /// Parks a request; it is on disk when this returns.
    ///
    /// # Errors
    ///
    /// The disk refused: nothing is parked.
    pub async fn park(self, request: ParkedRequest) -> Result<(), ApprovalError> {
        Ok(self.approvals.write(request).await?)
    }
}

/// A sync takes as long as the disk likes; no other request waits for it meanwhile.
async fn on_disk(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
