//! What a start finds in the folder of the parked requests.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use chancery_shared::id::ApprovalId;

use super::parked::{Fate, ParkedRequest};
use crate::journal::Decided;

/// All files of the folder, read.
#[derive(Default)]
pub(super) struct Found {
    pub(super) parked: BTreeMap<ApprovalId, Arc<ParkedRequest>>,
    /// Their files don't say yet what became of them.
    pub(super) unwritten: BTreeSet<ApprovalId>,
    pub(super) doubtful: BTreeSet<ApprovalId>,
    pub(super) unreadable: BTreeSet<ApprovalId>,
}

impl Found {
    /// As [`super::Approvals::open`].
    pub(super) fn read<E: From<io::Error>>(
        folder: &Path,
        decided: impl Fn(&ParkedRequest, u64) -> Result<Decided, E>,
    ) -> Result<Self, E> {
        std::fs::create_dir_all(folder)?;
        let mut found = Self::default();
        for file in std::fs::read_dir(folder)? {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "json") {
                continue;
            }
            let Some(mut request) = read(&path) else {
                found.unreadable.extend(id_of(&path));
                continue;
            };
            let approval_id = request.approval_id;
            match request.fate {
                Fate::Waiting => {
                    found.doubtful.insert(approval_id);
                }
                Fate::Deciding { after } => {
                    request.fate = decided(&request, after)?.into();
                    // It may have been withdrawn by an entry before it was begun.
                    if request.fate == Fate::Waiting {
                        found.doubtful.insert(approval_id);
                    }
                    // Written by and by: a full disk is no reason not to start.
                    found.unwritten.insert(approval_id);
                }
                Fate::Approved { .. } | Fate::Denied | Fate::Expired => {}
            }
            found.parked.insert(approval_id, Arc::new(request));
        }
        Ok(found)
    }
}

/// The request whose file has that name.
fn id_of(path: &Path) -> Option<ApprovalId> {
    path.file_stem()?.to_str()?.parse().ok()
}

/// One damaged file is no reason to sign nothing any more; the log names it.
fn read(path: &Path) -> Option<ParkedRequest> {
    match ParkedRequest::read(path) {
        Ok(request) => Some(request),
        Err(error) => {
            let file = path.display();
            tracing::error!(%file, %error, "a parked request can't be read and is left out");
            None
        }
    }
}
