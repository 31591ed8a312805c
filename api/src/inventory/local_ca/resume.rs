//! Finishes Local CAs whose making was interrupted, or waits for the signer's operator.

use std::time::Duration;

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::ApprovalStatus;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::definition::LocalCaDefinition;
use super::{Maker, claim, lost_key, make, undo};
use crate::app::AppState;
use crate::error::ApiError;
use crate::retention;
use crate::signer_client::SignerError;
use crate::store::local_ca::{LocalCa, LocalCaClaim, LocalCaStatus};

/// Pause between two looks.
const EVERY: Duration = Duration::from_secs(5);

/// The job; it ends when it is stopped or dropped.
#[derive(Debug)]
pub struct Resumer {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Resumer {
    /// Begins to look, now and then.
    pub fn start(state: AppState) -> Self {
        let (stop, mut stopping) = watch::channel(false);
        let task = tokio::spawn(async move {
            while !*stopping.borrow() {
                for looked in [run_once(&state).await, retention::resume_once(&state).await] {
                    if let Err(error) = looked {
                        let error = crate::log::Chain(&error).to_string();
                        tracing::warn!(error, "unfinished Local CAs are looked at again later");
                    }
                }
                let _ = tokio::time::timeout(EVERY, stopping.wait_for(|stop| *stop)).await;
            }
        });
        Self { stop, task }
    }

    /// Lets the look that runs end, then stops.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        let _ = self.task.await;
    }
}

/// Looks at each unfinished Local CA once.
///
/// # Errors
///
/// The database failed. What the signer says of one CA does not keep the next from its turn.
pub(crate) async fn run_once(state: &AppState) -> Result<(), ApiError> {
    for ca in state.store.unfinished_local_cas().await? {
        if let Err(error) = look_at(state, &ca).await {
            let error = crate::log::Chain(&error).to_string();
            tracing::warn!(local_ca.id = %ca.id, error, "a Local CA is still unfinished");
        }
    }
    Ok(())
}

async fn look_at(state: &AppState, ca: &LocalCa) -> Result<(), ApiError> {
    let definition = LocalCaDefinition::of(ca)?;
    // The record is there, made by the request or by reconciliation.
    if ca.status != LocalCaStatus::Removing
        && let Some(certificate_id) = definition.recorded(state).await?
    {
        return make::go_live(state, ca, certificate_id).await;
    }
    if !will_never_be(state, ca).await? {
        return Ok(());
    }
    // A request that may still run has the claim, or another process that is at it.
    let Some(claim) = claim::take(state, ca).await? else { return Ok(()) };
    let taken_back = take_back(state, claim).await;
    claim::release(state, claim).await;
    taken_back
}

/// Whether nothing is on its way any more that would finish the CA, unless its request still runs.
async fn will_never_be(state: &AppState, ca: &LocalCa) -> Result<bool, ApiError> {
    let signer = state.signer.state();
    match (ca.status, ca.approval_id) {
        (LocalCaStatus::AwaitingApproval, Some(approval_id)) => {
            match state.signer.approval_status(approval_id).await {
                // Approved: reconciliation makes the record from the journal.
                Ok(ApprovalStatus::Waiting | ApprovalStatus::Approved { .. }) => Ok(false),
                Ok(ApprovalStatus::Denied | ApprovalStatus::Expired) => Ok(true),
                // Its end was long ago: what came of it, key and records say.
                Err(SignerError::Refused(no)) if no.code == RefusalCode::UnknownApproval => {
                    Ok(!undo::is_certified(&signer, ca))
                }
                Err(error) => Err(error.into()),
            }
        }
        (LocalCaStatus::AwaitingCertificate, _) => {
            signer.check_signer()?;
            // Certified: the record is on its way from the journal.
            Ok(!undo::is_certified(&signer, ca))
        }
        (LocalCaStatus::Removing, _) => Ok(true),
        _ => Ok(false),
    }
}

async fn take_back(state: &AppState, claim: LocalCaClaim) -> Result<(), ApiError> {
    // As it is now that nobody else changes it: its request may have come further meanwhile.
    let Some(ca) = state.store.local_ca(claim.local_ca_id).await? else { return Ok(()) };
    if !will_never_be(state, &ca).await? {
        return Ok(());
    }
    let definition = LocalCaDefinition::of(&ca)?;
    if ca.key_id.is_none() {
        lost_key::restore(state, claim, &ca, &definition).await?;
    }
    let maker = Maker {
        user_id: definition.maker_user_id,
        username: ca.created_by.clone(),
        request_id: format!("resume-{}", ca.id),
    };
    tracing::warn!(local_ca.name = ca.name, "a Local CA that was not made is removed");
    undo::remove(state, &maker, claim, &ca).await;
    Ok(())
}
