//! Starting a signing worker and having it open the token.

use std::sync::Arc;

use tracing::error;

use super::config::TokenConfig;
use super::copies;
use super::pin::PinSource;
use super::protocol::{FromSigningWorker, OpenFailure, Opened, StartSigning};
use super::secret::Secret;
use super::worker::SIGNING_WORKER;
use super::worker_process::{ProcessError, WorkerProcess, open};

/// A worker that has opened the token.
pub(super) struct OpenWorker {
    pub(super) process: WorkerProcess,
    pub(super) opened: Opened,
    /// Where its PIN came from, should the token refuse it later.
    pub(super) pin_source: PinSource,
}

/// Starts a worker and waits for its first answer. Dropping the future kills the worker, which
/// can't write and so leaves nothing behind.
pub(super) async fn open_worker(
    config: Arc<TokenConfig>,
    pin: Secret,
) -> Result<(WorkerProcess, Result<Opened, OpenFailure>), ProcessError> {
    restore_token_file(&config).await;
    let mut process = WorkerProcess::start(&config, SIGNING_WORKER)?;
    let first = StartSigning { open: open(&config, pin), threads: threads(&config) };
    match process.greet::<FromSigningWorker>(&first, config.deadline).await? {
        FromSigningWorker::Opened(result) => Ok((process, result)),
        FromSigningWorker::Answer { .. }
        | FromSigningWorker::EpochBegun
        | FromSigningWorker::Lost { .. } => Err(ProcessError::Ended),
    }
}

/// Puts the token's main file back where a writer was killed while it rewrote it.
async fn restore_token_file(config: &Arc<TokenConfig>) {
    let config = Arc::clone(config);
    let restored = tokio::task::spawn_blocking(move || {
        copies::restore_when_idle(&config.folder, &config.own_state())
            .map(|files| (files, config.name.clone()))
    });
    if let Ok(Ok((files, token))) = restored.await {
        for file in files {
            error!(token, file = %file.display(), "an empty token file was restored from its copy");
        }
    }
}

fn threads(config: &TokenConfig) -> usize {
    config.threads.unwrap_or_else(|| {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        cores.saturating_mul(4).clamp(2, 64)
    })
}
