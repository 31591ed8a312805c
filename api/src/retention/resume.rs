//! Finishes transitions that were interrupted, or that wait for the signer's operator.

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{ApprovalStatus, KeyState};

use super::local_ca::{Attempt, Marked, take};
use super::{By, waiting};
use crate::app::AppState;
use crate::error::ApiError;
use crate::signer_client::SignerError;
use crate::store::retention::Pending;

/// Looks at each transition once.
///
/// # Errors
///
/// The database failed. What the signer says of one CA does not keep the next from its turn.
pub async fn run_once(state: &AppState) -> Result<(), ApiError> {
    for pending in state.store.pending_transitions().await? {
        if let Err(error) = look_at(state, &pending).await {
            let error = crate::log::Chain(&error).to_string();
            tracing::warn!(
                local_ca.id = %pending.local_ca_id, transition = pending.transition.as_str(), error,
                "a Local CA is still in transition"
            );
        }
    }
    Ok(())
}

async fn look_at(state: &AppState, pending: &Pending) -> Result<(), ApiError> {
    let by: By = serde_json::from_str(&pending.by).map_err(ApiError::internal)?;
    // Whoever began it has the claim, or another process that is at it.
    let Some(marked) = take(state, &by, pending.local_ca_id, pending.transition).await? else {
        return Ok(());
    };
    match pending.approval_id {
        None => marked.carry_out(Attempt::Again).await.map(drop),
        Some(approval) => {
            let decided = match waiting::is_too_late(state, pending.local_ca_id).await {
                Ok(true) => give_up(&marked, "restore too late").await,
                Ok(false) => decide(&marked, state.signer.approval_status(approval).await).await,
                Err(error) => Err(error),
            };
            if !matches!(decided, Ok(true)) {
                marked.release().await?;
            }
            decided.map(drop)
        }
    }
}

/// Nobody restores what is due: the purge does its work.
async fn give_up(marked: &Marked<'_>, action: &'static str) -> Result<bool, ApiError> {
    if let Some(ca) = marked.state.store.local_ca(marked.claim.local_ca_id).await? {
        marked.stay_deleted(&ca, action).await?;
    }
    Ok(true)
}

/// Goes on as the operator has decided; says whether that ended the transition.
async fn decide(
    marked: &Marked<'_>,
    status: Result<ApprovalStatus, SignerError>,
) -> Result<bool, ApiError> {
    let Some(ca) = marked.state.store.local_ca(marked.claim.local_ca_id).await? else {
        return Ok(true);
    };
    match status {
        Ok(ApprovalStatus::Waiting) => return Ok(false),
        Ok(ApprovalStatus::Approved { .. }) => marked.set_restored(&ca).await?,
        Ok(ApprovalStatus::Denied) => marked.stay_deleted(&ca, "restore denied").await?,
        Ok(ApprovalStatus::Expired) => marked.stay_deleted(&ca, "restore expired").await?,
        // Its end was long ago: what came of it the key says.
        Err(SignerError::Refused(no)) if no.code == RefusalCode::UnknownApproval => {
            let signer = marked.state.signer.state();
            let key = ca.key_id.and_then(|id| signer.key(id));
            if key.is_some_and(|key| key.state == KeyState::Live) {
                marked.set_restored(&ca).await?;
            } else {
                marked.stay_deleted(&ca, "restore expired").await?;
            }
        }
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}
