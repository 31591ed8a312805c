//! What the audit says of an item that changes its state.

use chancery_shared::id::ApprovalId;
use serde_json::json;

use super::By;
use super::refusal::in_path;
use crate::app::AppState;
use crate::audit::AuditDraft;
use crate::store::retention::ItemId;

/// The entry of what `by` does to the item called `name`; it may be done by a job, long after the
/// request that asked for it.
pub(super) fn entry(
    state: &AppState,
    by: &By,
    action: &'static str,
    (id, name): (ItemId, &str),
) -> AuditDraft {
    let (kind, id) = in_path(id);
    let entry = state.audited(action, kind).on(&id, name).in_request(&by.request_id);
    match by.user_id {
        Some(user) => entry.by(user, &by.username),
        None => entry,
    }
}

/// The same, where the end of a key waits for the signer's operator.
pub(super) fn awaiting(entry: AuditDraft, approval: Option<ApprovalId>) -> AuditDraft {
    match approval {
        Some(approval) => entry.after(json!({"key": "disabled", "awaitsApproval": approval})),
        None => entry,
    }
}

/// A removal for good, as the audit calls it: by someone who asked, or by the purge.
pub(super) fn removal(by: &By) -> &'static str {
    if by.user_id.is_some() { "delete force" } else { "purge" }
}
