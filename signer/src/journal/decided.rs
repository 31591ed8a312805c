//! What became of a parked request that the operator had decided on.

use std::path::Path;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::journal::{Entry, Event, KeyEvent};
use chancery_shared::wire::v1::{InstallCaCertificate, KeyChange, Request};

use super::{JournalError, entries};

/// What the journal says of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// Nothing was done, and nothing will be: it is as if nobody had decided.
    Nothing,
    /// The operator said no.
    Denied,
    /// The key was taken out of use since: nobody's word on an enable from before that counts.
    Withdrawn,
    /// The operator said yes, and it was done. Of a key that is being destroyed this says that it
    /// can't come back.
    Done {
        /// The signature, where one was asked for.
        signature: Option<Bytes>,
    },
}

/// Finds it among the entries of the journal in `folder` above `after`. Blocks on the disk.
///
/// # Errors
///
/// A segment can't be read or is damaged.
pub fn decided(
    folder: &Path,
    after: u64,
    approval_id: ApprovalId,
    request: &Request,
) -> Result<Decided, JournalError> {
    let (mut is_approved, mut intent) = (false, None);
    for entry in entries(folder, after) {
        let Entry { seq, event, .. } = entry?;
        match event {
            Event::Denied { approval_id: of, .. } if of == approval_id => {
                return Ok(Decided::Denied);
            }
            Event::Approved { approval_id: of, .. } if of == approval_id => is_approved = true,
            Event::Intent(found) if found.approval_id == Some(approval_id) => intent = Some(seq),
            Event::Signed { intent: of, signature, .. } if intent == Some(of) => {
                return Ok(Decided::Done { signature: Some(signature) });
            }
            Event::Abandoned { intent: of, .. } if intent == Some(of) => intent = None,
            event if is_approved && is_deed(&event, request) => {
                return Ok(Decided::Done { signature: None });
            }
            event if withdraws(&event, request) => return Ok(Decided::Withdrawn),
            _ => {}
        }
    }
    Ok(Decided::Nothing)
}

/// Whether the event ends the request: a key that goes out of use takes along each enable of it that
/// was asked for before.
fn withdraws(event: &Event, request: &Request) -> bool {
    match (event, request) {
        (Event::KeyDisabled(event) | Event::KeyDestroying(event), Request::EnableKey(change)) => {
            event.key_id == change.key_id
        }
        _ => false,
    }
}

/// Whether the event is what was asked for. The context names the request, so the same change on
/// someone else's word is not taken for it.
fn is_deed(event: &Event, request: &Request) -> bool {
    match (event, request) {
        (Event::KeyEnabled(event), Request::EnableKey(change))
        | (Event::KeyDestroying(event), Request::DestroyKey(change)) => {
            let KeyChange { key_id, reason, context } = change;
            let KeyEvent { key_id: of, reason: why, context: asked } = event;
            (of, why, asked) == (key_id, reason, context)
        }
        (
            Event::CaCertificateInstalled { key_id: of, chain: installed, context: asked },
            Request::InstallCaCertificate(InstallCaCertificate { key_id, chain, context }),
        ) => {
            // It is completed up to the anchor before it is installed.
            (of, asked) == (key_id, context) && installed.starts_with(chain)
        }
        _ => false,
    }
}
