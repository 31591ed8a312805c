//! The signer's journal against our records: nothing that was signed stays unknown.
//!
//! At start and every minute the entries that came since are read, and their hash chain is
//! followed. A signature that is older than a request may last, and has neither a record nor the
//! tombstone of one, gets its record from the journal. A record that names an entry which is not
//! its own is an alarm. A journal that is not the one that was known stops all this, until its
//! operator has accepted what is lost.

mod alarm;
mod anchor;
mod chain;
mod part;
mod reconciler;
mod recover;
#[cfg(test)]
mod tests;
mod walk;

pub use alarm::Alarm;
pub use chain::JournalFault;
pub use reconciler::{Reconciler, start};

use walk::Walk;

use crate::app::AppState;
use crate::lease::{Job, Lease};
use crate::signer_client::SignerError;
use crate::store::StoreError;

/// On a shared database one process at a time reconciles.
const JOB: Job = Job { name: "reconcile", holds_for: time::Duration::seconds(15) };

/// What a pass came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Whether another process had the right to reconcile; then nothing was done.
    pub is_elsewhere: bool,
    /// Entries read.
    pub entries: u64,
    /// Records made.
    pub recovered: u64,
    /// Alarms raised.
    pub alarms: u64,
    /// Entries that are lost, as the operator has accepted.
    pub lost: u64,
    /// Up to this entry all is reconciled.
    pub reconciled_seq: u64,
}

/// Why a pass did not come to its end. What it has done stays done; the next goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum ReconcileError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The journal can't be read now.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The journal is not what it was, or not whole: an operator must act.
    #[error(transparent)]
    Journal(#[from] JournalFault),
    /// A certificate without a known owner was found, and there is nobody to give it to.
    #[error("a certificate whose owner is unknown has no administrator to belong to")]
    NoAdministrator,
}

/// One pass, from where the last one ended.
///
/// # Errors
///
/// See [`ReconcileError`].
pub async fn run_once(state: &AppState) -> Result<Report, ReconcileError> {
    let lease = Lease::new(state, JOB);
    let done = run_as(state, &lease).await;
    lease.give_back().await;
    done
}

/// As [`run_once`], under a lease that the caller gives back.
async fn run_as(state: &AppState, lease: &Lease<'_>) -> Result<Report, ReconcileError> {
    let signer_id = state.signer.state().signer_id().ok_or(SignerError::Unreachable)?;
    if !lease.renew().await? {
        return Ok(Report { is_elsewhere: true, ..Report::default() });
    }
    // Before the journal is read: it must hold everything that is known by now.
    let known = state.store.known_journals().await?;
    let known = known.iter().find(|known| known.head.signer_id == signer_id);
    let anchor = anchor::find(&state.signer, signer_id, known).await?;
    let reconciled = known.map_or(0, |known| known.reconciled_seq);
    Walk::new(state, signer_id, reconciled, &anchor).run(anchor, lease).await
}
