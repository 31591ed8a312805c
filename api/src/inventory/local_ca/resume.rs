//! Finishes Local CAs whose making was interrupted, or waits for the signer's operator.

use std::time::Duration;

use chancery_shared::wire::v1::ApprovalStatus;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::definition::LocalCaDefinition;
use super::{Maker, lost_key, make, undo};
use crate::app::AppState;
use crate::error::ApiError;
use crate::store::local_ca::{LocalCa, LocalCaStatus};

/// Pause between two looks.
const EVERY: Duration = Duration::from_secs(5);

/// A request that makes a CA is over after this, one way or the other: it asks the signer twice,
/// for a key and for a signature, and each has a slot after 10 s and an answer after 29 s more.
const REQUEST: time::Duration = time::Duration::seconds(120);

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
                if let Err(error) = run_once(&state).await {
                    let error = crate::log::Chain(&error).to_string();
                    tracing::warn!(error, "unfinished Local CAs are looked at again later");
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
    if let Some(awaiting) = &definition.awaiting
        && state.store.certificate(awaiting.context.certificate_id).await?.is_some()
    {
        return make::go_live(state, ca, awaiting.context.certificate_id).await;
    }
    let maker = Maker {
        user_id: definition.maker_user_id,
        username: ca.created_by.clone(),
        request_id: format!("resume-{}", ca.id),
    };
    match (ca.status, ca.approval_id) {
        (LocalCaStatus::AwaitingApproval, Some(approval_id)) => {
            match state.signer.approval_status(approval_id).await? {
                // Approved: reconciliation makes the record from the journal.
                ApprovalStatus::Waiting | ApprovalStatus::Approved { .. } => {}
                ApprovalStatus::Denied | ApprovalStatus::Expired => {
                    tracing::warn!(local_ca.name = ca.name, "a Local CA was not approved");
                    undo::remove(state, &maker, ca).await;
                }
            }
        }
        (LocalCaStatus::AwaitingCertificate, _) if is_abandoned(state, ca) => {
            let signer = state.signer.state();
            signer.check_signer()?;
            if ca.key_id.is_none() {
                lost_key::restore(state, ca, &definition).await?;
            }
            let certified = ca
                .key_id
                .and_then(|id| signer.key(id).map(|key| key.has_ca_certificate))
                .unwrap_or_default();
            // Signed, and the record is on its way from the journal.
            if !certified {
                tracing::warn!(local_ca.name = ca.name, "a Local CA that was not made is removed");
                undo::remove(state, &maker, ca).await;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether the request that began it is over without having finished it.
fn is_abandoned(state: &AppState, ca: &LocalCa) -> bool {
    state.clock.now() - ca.created_at > REQUEST
}
