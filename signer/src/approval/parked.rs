//! One parked request, as its file has it.

use std::io;
use std::path::{Path, PathBuf};

use chancery_shared::bytes::Bytes;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::v1::{ApprovalStatus, Request};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use time::OffsetDateTime;

use crate::durable;
use crate::journal::Decided;

/// How long a request waits.
const LIFETIME: time::Duration = time::Duration::days(7);

/// Of the shape below.
const VERSION: u32 = 1;

/// A request that waits, or waited. Stored: a change of shape is a new version.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
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
    /// Its own entry of the journal: every decision on it stands above.
    pub parked_seq: u64,
    /// What became of it.
    pub fate: Fate,
}

/// A file's content.
#[derive(Serialize)]
struct Stored<'a> {
    version: u32,
    parked: &'a ParkedRequest,
}

/// The same, read in two steps: what another version wrote has another shape.
#[derive(Deserialize)]
struct Versioned<'a> {
    version: u32,
    #[serde(borrow)]
    parked: &'a RawValue,
}

/// What became of a parked request.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Fate {
    /// Nothing yet.
    Waiting,
    /// The operator has decided and it is being done. A start that finds this asks the journal
    /// what came of it.
    Deciding {
        /// What came of it is journaled above this entry.
        after: u64,
    },
    /// Done.
    Approved {
        /// The signature, where one was asked for.
        signature: Option<Bytes>,
    },
    /// The operator said no.
    Denied,
    /// Nobody decided in time, or it can't be done any more, or its key was taken out of use since.
    Expired,
}

impl Fate {
    /// Whether that may follow. What was done is so even if it was withdrawn right after.
    pub(super) fn may_become(&self, next: &Self) -> bool {
        match self {
            Self::Deciding { .. } => true,
            Self::Waiting => *next != Self::Waiting,
            Self::Expired => matches!(next, Self::Approved { .. }),
            Self::Approved { .. } | Self::Denied => false,
        }
    }
}

impl ParkedRequest {
    /// When it expires.
    #[must_use]
    pub fn expires_at(&self) -> OffsetDateTime {
        self.parked_at + LIFETIME
    }

    /// What the API may know of it.
    #[must_use]
    pub fn status(&self, now: OffsetDateTime) -> ApprovalStatus {
        match &self.fate {
            Fate::Waiting if !self.is_waiting(now) => ApprovalStatus::Expired,
            Fate::Waiting | Fate::Deciding { .. } => ApprovalStatus::Waiting,
            Fate::Approved { signature } => {
                ApprovalStatus::Approved { signature: signature.clone() }
            }
            Fate::Denied => ApprovalStatus::Denied,
            Fate::Expired => ApprovalStatus::Expired,
        }
    }

    pub(super) fn is_waiting(&self, now: OffsetDateTime) -> bool {
        self.fate == Fate::Waiting && now < self.expires_at()
    }

    /// Whether something may still come of it.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.fate, Fate::Waiting | Fate::Deciding { .. })
    }

    /// Whether it has been kept as long again after its end, so that the API could learn its fate.
    pub(super) fn is_forgotten(&self, now: OffsetDateTime) -> bool {
        !matches!(self.fate, Fate::Deciding { .. }) && now > self.expires_at() + LIFETIME
    }

    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.json", self.approval_id))
    }

    pub(super) fn read(path: &Path) -> io::Result<Self> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let bytes = std::fs::read(path)?;
        let Versioned { version, parked } = serde_json::from_slice(&bytes)?;
        if version != VERSION {
            return Err(invalid(format!("it has version {version}, this signer reads {VERSION}")));
        }
        let request: Self = serde_json::from_str(parked.get())?;
        let name = path.file_stem().and_then(|name| name.to_str());
        if name != Some(request.approval_id.to_string().as_str()) {
            return Err(invalid(format!("it holds the request {}", request.approval_id)));
        }
        Ok(request)
    }

    pub(super) fn write(&self, folder: &Path) -> io::Result<()> {
        let stored = Stored { version: VERSION, parked: self };
        durable::replace(&self.path(folder), &serde_json::to_vec_pretty(&stored)?)
    }
}

impl From<Decided> for Fate {
    fn from(decided: Decided) -> Self {
        match decided {
            Decided::Nothing => Self::Waiting,
            Decided::Denied => Self::Denied,
            Decided::Withdrawn => Self::Expired,
            Decided::Done { signature } => Self::Approved { signature },
        }
    }
}
