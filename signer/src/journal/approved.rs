//! What became of an approved request, for a start that does not find it in the last segment.

use std::path::Path;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::journal::{Entry, Event};

use super::{JournalError, entries};

/// The signature of an approved request, from the entries of the journal in `folder` above
/// `after`; `None` where it has none.
///
/// # Errors
///
/// A segment can't be read or is damaged.
pub fn signature_of(
    folder: &Path,
    after: u64,
    approval_id: ApprovalId,
) -> Result<Option<Bytes>, JournalError> {
    // An approval is used up by its first intent, so there is no second.
    let mut intent = None;
    for entry in entries(folder, after) {
        let Entry { seq, event, .. } = entry?;
        match event {
            Event::Intent(found) if found.approval_id == Some(approval_id) => intent = Some(seq),
            Event::Signed { intent: of, signature, .. } if intent == Some(of) => {
                return Ok(Some(signature));
            }
            Event::Abandoned { intent: of, .. } if intent == Some(of) => return Ok(None),
            _ => {}
        }
    }
    Ok(None)
}
