//! The signer's side of a key worker: one task, one process, one at a time.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::error;

use super::error::{CkrName, TokenError};
use super::handle::Shared;
use super::job::Message;
use super::key_protocol::{KeyAction, KeyAnswer, KeyFailure, KeyOutput, KeyTask};
use super::pin::PinError;
use super::protocol::OpenFailure;
use super::status::add;
use super::worker::KEY_WORKER;
use super::worker_process::{ProcessError, WorkerProcess, kill, open};

/// Has a key worker do it, then has the signing worker open the token again.
///
/// To be run to its end: a key worker that is killed while it writes leaves debris.
pub(super) async fn run(shared: &Shared, action: KeyAction) -> Result<KeyOutput, TokenError> {
    let _alone = shared.key_tasks.lock().await;
    let token = shared.config.name.as_str();
    let (pin, pin_source) = shared.pin.read().await.map_err(|failure| match failure {
        PinError::Refused => TokenError::PinRefused,
        other => {
            error!(token, error = %other, "there is no PIN for a key worker");
            TokenError::Unavailable
        }
    })?;
    let task = KeyTask { open: open(&shared.config, pin), action };
    // Three calls' time: RSA keys take their time, and others' files may have to be waited for.
    let within = shared.config.deadline.saturating_mul(3);
    let answer = exchange(&shared.config, &task, within).await.map_err(|failure| {
        error!(token, error = %failure, "the key worker gave no answer");
        match failure {
            ProcessError::Start(_) => TokenError::NoWorker,
            ProcessError::Ended => TokenError::Unavailable,
            ProcessError::TooSlow => TokenError::DeadlineExceeded,
        }
    });
    // Whatever it did, the signing worker has to see it; where the token did not open, it did
    // nothing, and a PIN that was refused there may not be tried here.
    if !matches!(&answer, Ok(KeyAnswer { result: Err(KeyFailure::Open(_)), .. })) {
        begin_epoch(shared).await;
    }
    let KeyAnswer { result, trial_signatures, failures } = answer?;
    add(&shared.status.trial_signatures, trial_signatures);
    shared.status.count(&failures);
    let failure = match result {
        Ok(output) => return Ok(output),
        Err(failure) => failure,
    };
    if let KeyFailure::Open(failure) = &failure {
        error!(token, error = %failure, "the key worker could not open the token");
        shared.status.count(failure.ckr().map_or(&[], std::slice::from_ref));
    } else {
        error!(token, error = %failure, "the key worker failed");
    }
    Err(match failure {
        KeyFailure::Open(OpenFailure::PinRefused { ckr }) => {
            // Before anyone hears of it: whoever opens the token then looks at the mark.
            shared.pin.mark(pin_source.clone());
            let _ = shared.supervisor.send(Message::PinRefusedElsewhere);
            if let Err(source) = shared.pin.remember(pin_source, ckr).await {
                error!(token, error = %source, "the PIN's refusal could not be written down");
            }
            TokenError::PinRefused
        }
        // Without its folders, on a full disk for one, the token can't be changed now.
        KeyFailure::Open(_) | KeyFailure::Failed { .. } | KeyFailure::Files(_) => {
            TokenError::Unavailable
        }
        KeyFailure::Refused { ckr } => TokenError::Refused { ckr },
        KeyFailure::KeyLimit { max } => TokenError::KeyLimit { max },
        KeyFailure::WrongAlgorithm => TokenError::WrongAlgorithm,
        KeyFailure::BadPublicKey => TokenError::BadPublicKey,
        KeyFailure::WrongSignature => TokenError::WrongSignature,
        KeyFailure::TokenExists | KeyFailure::NoFreeSlot => {
            TokenError::Refused { ckr: CkrName::fixed("TOKEN_EXISTS") }
        }
    })
}

/// Starts the worker, gives it its task and sees it end.
pub(super) async fn exchange(
    config: &super::TokenConfig,
    task: &KeyTask,
    within: Duration,
) -> Result<KeyAnswer, ProcessError> {
    let mut worker = WorkerProcess::start(config, KEY_WORKER)?;
    let answer = worker.greet::<KeyAnswer>(task, within).await;
    if timeout(config.deadline, worker.child.wait()).await.is_err() {
        kill(&mut worker.child).await;
    }
    answer
}

async fn begin_epoch(shared: &Shared) {
    let (done, begun) = oneshot::channel();
    if shared.supervisor.send(Message::NewEpoch(done)).is_ok() {
        // Dropped where the worker was lost meanwhile: its successor begins anew.
        let _ = begun.await;
    }
}
