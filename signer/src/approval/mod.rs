//! Requests that policy lets pass and that wait for the operator all the same.
//!
//! Each is a file of its own in `signer/approvals`, on disk before the client hears of it. A
//! decision is in the file as begun, then in the journal, then in the file as done: whatever cuts
//! it off in between, the journal says what came of it. One that came to nothing for a reason that
//! passes by itself waits again.
//!
//! Nothing is let go for its age alone: the clock may be wrong.

mod found;
mod parked;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chancery_shared::id::ApprovalId;
use time::OffsetDateTime;
use tokio::task::spawn_blocking;

use found::Found;
pub use parked::{Fate, ParkedRequest};

use crate::journal::Decided;

/// How many may wait at once.
pub const MAX_WAITING: usize = 100;

/// A summary has at most this many bytes.
pub const MAX_SUMMARY: usize = 400;

/// How many are kept, decided ones among them, before the oldest that nobody asks for is let go.
pub const KEPT: usize = 1_000;

/// The parked requests of one signer.
#[derive(Debug)]
pub struct Approvals {
    folder: PathBuf,
    parked: Mutex<BTreeMap<ApprovalId, Arc<ParkedRequest>>>,
    /// Ended in memory alone: the disk refused.
    unwritten: Mutex<BTreeSet<ApprovalId>>,
    /// Waiting since before this start: an older copy of one that was decided since may be among
    /// them, or one whose key was taken out of use.
    doubtful: Mutex<BTreeSet<ApprovalId>>,
    /// Their files can't be read; nobody knows what became of them.
    unreadable: BTreeSet<ApprovalId>,
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
    /// above that entry of the journal. A file that can't be read is named in the log and left as
    /// it is. Blocks on the disk.
    ///
    /// # Errors
    ///
    /// The folder can't be used, or the journal can't be asked.
    pub fn open<E: From<io::Error>>(
        folder: PathBuf,
        decided: impl Fn(&ParkedRequest, u64) -> Result<Decided, E>,
    ) -> Result<Self, E> {
        let Found { parked, unwritten, doubtful, unreadable } = Found::read(&folder, decided)?;
        Ok(Self {
            folder,
            parked: Mutex::new(parked),
            unwritten: Mutex::new(unwritten),
            doubtful: Mutex::new(doubtful),
            unreadable,
            changing: tokio::sync::Mutex::default(),
        })
    }

    /// Those whose files could not be read at the start.
    #[must_use]
    pub fn unreadable(&self) -> &BTreeSet<ApprovalId> {
        &self.unreadable
    }

    /// Whether the journal may know of a decision on a request that waits.
    #[must_use]
    pub fn is_doubtful(&self, approval_id: ApprovalId) -> bool {
        lock(&self.doubtful).contains(&approval_id)
    }

    /// The journal was asked, and knows of none.
    pub fn make_sure(&self, approval_id: ApprovalId) {
        lock(&self.doubtful).remove(&approval_id);
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

    /// Says what came of a request: [`Fate::Waiting`] if nothing did and it was begun. One that has
    /// ended stays so, whoever comes late: it may have been withdrawn while it was being done.
    ///
    /// # Errors
    ///
    /// The disk refused; in memory the fate stands, and [`Approvals::catch_up`] writes it. A start
    /// before that asks the journal, and what is not in there waits again.
    pub async fn end(&self, approval_id: ApprovalId, fate: Fate) -> Result<(), ApprovalError> {
        let _alone = self.changing.lock().await;
        let request = self.find(approval_id).ok_or(ApprovalError::Unknown)?;
        if !request.fate.may_become(&fate) {
            return Ok(());
        }
        let ended = ParkedRequest { fate, ..ParkedRequest::clone(&request) };
        self.parked().insert(approval_id, Arc::new(ended.clone()));
        self.unwritten().insert(approval_id);
        self.write(ended).await?;
        self.unwritten().remove(&approval_id);
        Ok(())
    }

    /// Writes the ends that the disk refused.
    pub async fn catch_up(&self) {
        if self.unwritten().is_empty() {
            return;
        }
        let _alone = self.changing.lock().await;
        let unwritten = self.unwritten().clone();
        for approval_id in unwritten {
            let Some(request) = self.find(approval_id) else { continue };
            if self.write(ParkedRequest::clone(&request)).await.is_err() {
                return;
            }
            self.unwritten().remove(&approval_id);
        }
    }

    /// Lets go of those that ended so long ago that nobody asks any more, the oldest first, where
    /// there are more than [`KEPT`].
    pub async fn prune(&self, now: OffsetDateTime) {
        let too_many = |parked: &BTreeMap<_, Arc<ParkedRequest>>| {
            let too_many = parked.len().saturating_sub(KEPT);
            if too_many == 0 {
                return Vec::new();
            }
            // An id begins with its time.
            let forgotten = parked.values().filter(|request| request.is_forgotten(now));
            forgotten.take(too_many).cloned().collect()
        };
        if too_many(&self.parked()).is_empty() {
            return;
        }
        let _alone = self.changing.lock().await;
        let forgotten = too_many(&self.parked());
        for request in forgotten {
            self.parked().remove(&request.approval_id);
            self.unwritten().remove(&request.approval_id);
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
        // An id says when it was made less exactly.
        waiting.sort_by_key(|request| request.parked_at);
        waiting
    }

    /// What waits or is being done, however old.
    #[must_use]
    pub fn open_ones(&self) -> Vec<Arc<ParkedRequest>> {
        self.parked().values().filter(|request| request.is_open()).cloned().collect()
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

    fn parked(&self) -> MutexGuard<'_, BTreeMap<ApprovalId, Arc<ParkedRequest>>> {
        lock(&self.parked)
    }

    fn unwritten(&self) -> MutexGuard<'_, BTreeSet<ApprovalId>> {
        lock(&self.unwritten)
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A sync takes as long as the disk likes; no other request waits for it meanwhile.
async fn on_disk(work: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
