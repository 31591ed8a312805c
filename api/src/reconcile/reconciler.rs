//! The background task: a pass at start, and one every minute.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::{JOB, JournalFault, ReconcileError, Report, alarm, run_as};
use crate::app::AppState;
use crate::error::Code;
use crate::job_runs;
use crate::lease::Lease;
use crate::log::Chain;
use crate::readiness::NotReady;
use crate::signer_client::SignerState;

/// Pause between two passes.
const EVERY: Duration = Duration::from_mins(1);

/// The running task.
#[derive(Debug)]
pub struct Reconciler {
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

/// What is wrong with the journal, for `/health/ready`.
type Fault = Arc<Mutex<Option<JournalFault>>>;

/// Begins to reconcile, as soon as there is a signer; `/health/ready` has the part `reconcile`
/// from now on.
pub fn start(state: AppState) -> Reconciler {
    let fault = Fault::default();
    watch_fault(&state, &fault);
    let (stop, stopping) = watch::channel(false);
    let task = tokio::spawn(run(state, fault, stopping));
    Reconciler { stop, task }
}

impl Reconciler {
    /// Stops at once: whatever a pass has not done, the next one does.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // An error here would be a panic of the task, which is in the log.
        let _ = self.task.await;
    }
}

fn watch_fault(state: &AppState, fault: &Fault) {
    let fault = Arc::clone(fault);
    state.readiness.add("reconcile", move || {
        let fault = fault.lock().unwrap_or_else(PoisonError::into_inner).clone();
        async move {
            fault.map_or(Ok(()), |fault| {
                Err(NotReady { code: Code::JournalBehind, message: fault.to_string() })
            })
        }
    });
}

async fn run(state: AppState, fault: Fault, mut stopping: watch::Receiver<bool>) {
    let mut signer = state.signer.watch_state();
    loop {
        let lease = Lease::new(&state, JOB);
        let pass = async {
            // Not a fault of its own while the service starts: the part `signer` says it.
            if signer.wait_for(SignerState::is_reachable).await.is_err() {
                return EVERY;
            }
            let done = run_as(&state, &lease).await;
            report(&done, &fault);
            if let Some(outcome) = told(&done) {
                job_runs::keep(&state, JOB.name, EVERY, outcome).await;
            }
            match done {
                // It may have died: the start of this process must not wait for longer.
                Ok(report) if report.is_elsewhere => JOB.holds_for.unsigned_abs(),
                Ok(_) | Err(_) => EVERY,
            }
        };
        let pause = tokio::select! {
            pause = pass => Some(pause),
            _ = stopping.wait_for(|stop| *stop) => None,
        };
        lease.give_back().await;
        let Some(pause) = pause else { return };
        if tokio::time::timeout(pause, stopping.wait_for(|stop| *stop)).await.is_ok() {
            return;
        }
    }
}

/// What `/admin/status` says of a pass that was made here.
fn told(done: &Result<Report, ReconcileError>) -> Option<Result<String, String>> {
    match done {
        Ok(report) if report.is_elsewhere => None,
        Ok(Report { entries, recovered, alarms, .. }) => Some(Ok(format!(
            "{entries} journal entries read, {recovered} records recovered, {alarms} alarms"
        ))),
        Err(ReconcileError::Journal(fault)) => Some(Err(fault.to_string())),
        Err(_) => Some(Err("signer or database failed; it is tried again".to_owned())),
    }
}

/// Logs what came of a pass, and tells `/health/ready`.
fn report(done: &Result<Report, ReconcileError>, fault: &Fault) {
    let mut known = fault.lock().unwrap_or_else(PoisonError::into_inner);
    match done {
        Ok(report) if report.is_elsewhere => {}
        Ok(report) => {
            *known = None;
            let Report { is_elsewhere: _, entries, recovered, alarms, lost, reconciled_seq } =
                *report;
            tracing::debug!(entries, recovered, alarms, lost, reconciled_seq, "reconciled");
        }
        Err(ReconcileError::Journal(found)) => {
            tracing::error!(code = "journal-broken", "{found}; nothing is reconciled meanwhile");
            alarm::count("journal-broken", 1);
            *known = Some(found.clone());
        }
        Err(error) => {
            let error = Chain(error).to_string();
            tracing::warn!(error, "reconciliation goes on later");
        }
    }
}
