//! Requests that policy lets pass and that wait for the operator all the same.
//!
//! Each is a file of its own in `signer/approvals`, on disk before the client hears of it, and
//! decided at most once.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use chancery_shared::bytes::Bytes;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::v1::{ApprovalStatus, Request};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use crate::durable;

/// How long a request waits.
const LIFETIME: time::Duration = time::Duration::days(7);

/// How many may wait at once.
const MAX_WAITING: usize = 100;

/// The parked requests of one signer.
#[derive(Debug)]
pub struct Approvals {
    folder: PathBuf,
    parked: Mutex<BTreeMap<ApprovalId, ParkedRequest>>,
}

/// A request that waits, or waited. Stored: a change of shape is a new version.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ParkedRequest {
    /// By which it is decided.
    pub approval_id: ApprovalId,
    /// What the API asked for, whole.
    pub request: Request,
    /// One sentence for the operator.
    pub summary: String,
    /// When it was judged by policy; it is judged by that clock again when it is approved.
    #[serde(with = "time::serde::rfc3339")]
    pub parked_at: OffsetDateTime,
    /// Number of its `parked` entry: what became of it is journaled above that.
    pub journal_seq: u64,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a parked request.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Nothing yet.
    Waiting,
    /// The operator said yes; it is being done. A start that finds this ends it as expired, unless
    /// the journal has its signature.
    Approving,
    /// Done.
    Approved {
        /// The signature, where one was asked for.
        signature: Option<Bytes>,
    },
    /// The operator said no.
    Denied,
    /// Nobody decided in time, or the signer stopped while it was being done.
    Expired,
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

impl ParkedRequest {
    /// When it expires.
    #[must_use]
    pub fn expires_at(&self) -> OffsetDateTime {
        self.parked_at + LIFETIME
    }

    fn is_waiting(&self, now: OffsetDateTime) -> bool {
        self.fate == Fate::Waiting && now < self.expires_at()
    }
}

impl Approvals {
    /// Reads every parked request. `signature_of` finds the signature of one that was being done
    /// when the signer stopped.
    ///
    /// # Errors
    ///
    /// The folder or one of its files can't be read, or a signature can't be looked for.
    pub fn open<E: From<io::Error>>(
        folder: PathBuf,
        now: OffsetDateTime,
        signature_of: impl Fn(&ParkedRequest) -> Result<Option<Bytes>, E>,
    ) -> Result<Self, E> {
        std::fs::create_dir_all(&folder)?;
        let mut parked = BTreeMap::new();
        for file in std::fs::read_dir(&folder)? {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let mut request: ParkedRequest =
                serde_json::from_slice(&std::fs::read(&path)?).map_err(io::Error::from)?;
            // Kept as long again after its end, so that the API learns its fate.
            if now > request.expires_at() + LIFETIME {
                std::fs::remove_file(&path)?;
                continue;
            }
            if request.fate == Fate::Approving {
                request.fate = signature_of(&request)?.map_or(Fate::Expired, |signature| {
                    Fate::Approved { signature: Some(signature) }
                });
                write(&folder, &request)?;
            }
            parked.insert(request.approval_id, request);
        }
        Ok(Self { folder, parked: Mutex::new(parked) })
    }

    /// Parks a request; it is on disk when this returns.
    ///
    /// # Errors
    ///
    /// Too many wait, or the disk refused: nothing is parked.
    pub fn park(&self, request: ParkedRequest) -> Result<(), ApprovalError> {
        let mut parked = self.parked();
        let waiting = parked.values().filter(|other| other.is_waiting(request.parked_at)).count();
        if waiting >= MAX_WAITING {
            return Err(ApprovalError::Full);
        }
        write(&self.folder, &request)?;
        parked.insert(request.approval_id, request);
        Ok(())
    }

    /// Takes a waiting request out of the waiting ones, for good: it is either done or lost.
    ///
    /// # Errors
    ///
    /// It is unknown, no longer open, or the disk refused.
    pub fn begin(
        &self,
        approval_id: ApprovalId,
        now: OffsetDateTime,
    ) -> Result<ParkedRequest, ApprovalError> {
        self.close(approval_id, now, Fate::Approving)
    }

    /// Ends a waiting request.
    ///
    /// # Errors
    ///
    /// It is unknown, no longer open, or the disk refused.
    pub fn deny(
        &self,
        approval_id: ApprovalId,
        now: OffsetDateTime,
    ) -> Result<ParkedRequest, ApprovalError> {
        self.close(approval_id, now, Fate::Denied)
    }

    fn close(
        &self,
        approval_id: ApprovalId,
        now: OffsetDateTime,
        fate: Fate,
    ) -> Result<ParkedRequest, ApprovalError> {
        let mut parked = self.parked();
        let request = parked.get_mut(&approval_id).ok_or(ApprovalError::Unknown)?;
        if !request.is_waiting(now) {
            return Err(ApprovalError::Closed);
        }
        let closed = ParkedRequest { fate, ..request.clone() };
        write(&self.folder, &closed)?;
        *request = closed.clone();
        Ok(closed)
    }

    /// Says what came of a request that was begun.
    ///
    /// # Errors
    ///
    /// The disk refused; in memory the fate stands.
    pub fn finish(&self, approval_id: ApprovalId, fate: Fate) -> Result<(), ApprovalError> {
        let mut parked = self.parked();
        let request = parked.get_mut(&approval_id).ok_or(ApprovalError::Unknown)?;
        request.fate = fate;
        Ok(write(&self.folder, request)?)
    }

    /// What the API may know of it.
    #[must_use]
    pub fn status(&self, approval_id: ApprovalId, now: OffsetDateTime) -> Option<ApprovalStatus> {
        let parked = self.parked();
        let request = parked.get(&approval_id)?;
        Some(match &request.fate {
            Fate::Waiting if !request.is_waiting(now) => ApprovalStatus::Expired,
            Fate::Waiting | Fate::Approving => ApprovalStatus::Waiting,
            Fate::Approved { signature } => {
                ApprovalStatus::Approved { signature: signature.clone() }
            }
            Fate::Denied => ApprovalStatus::Denied,
            Fate::Expired => ApprovalStatus::Expired,
        })
    }

    /// What waits, oldest first.
    #[must_use]
    pub fn waiting(&self, now: OffsetDateTime) -> Vec<ParkedRequest> {
        self.parked().values().filter(|request| request.is_waiting(now)).cloned().collect()
    }

    fn parked(&self) -> std::sync::MutexGuard<'_, BTreeMap<ApprovalId, ParkedRequest>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn write(folder: &Path, request: &ParkedRequest) -> io::Result<()> {
    let path = folder.join(format!("{}.json", request.approval_id));
    durable::replace(&path, &serde_json::to_vec_pretty(request)?)
}
