//! The signer's side of a worker process: start it, speak first, kill it for certain.

use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::time::Duration;

use chancery_shared::frame::{encode, read_frame};
use chancery_shared::wiped::WipedBuffer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::OwnedReadHalf;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};
use zeroize::Zeroizing;

use super::config::TokenConfig;
use super::protocol::{FromSigningWorker, Open};
use super::secret::Secret;

/// A worker that has just been started. Dropping it kills the process.
pub(super) struct WorkerProcess {
    pub(super) child: Child,
    pub(super) socket: UnixStream,
}

/// Why a worker could not be spoken to.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProcessError {
    #[error("the worker could not be started")]
    Start(#[source] std::io::Error),
    #[error("the worker ended before it answered")]
    Ended,
    #[error("the worker did not answer in time")]
    TooSlow,
}

impl WorkerProcess {
    /// Starts `chancery-signer` as a worker: the configured environment and nothing else, one end
    /// of a socketpair as standard input.
    pub(super) fn start(config: &TokenConfig, role: &str) -> Result<Self, ProcessError> {
        let start = || {
            let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
            ours.set_nonblocking(true)?;
            let socket = UnixStream::from_std(ours)?;
            let child = Command::new(&config.program)
                // The name is for the operator who looks at a list of processes.
                .args([role, &config.name])
                .env_clear()
                .envs(&config.environment)
                .current_dir("/")
                .stdin(Stdio::from(OwnedFd::from(theirs)))
                .stdout(Stdio::null())
                .kill_on_drop(true)
                .spawn()?;
            Ok(Self { child, socket })
        };
        start().map_err(ProcessError::Start)
    }

    /// Sends the first frame and waits for the first answer.
    pub(super) async fn greet<Answer: DeserializeOwned>(
        &mut self,
        first: &impl Serialize,
        within: Duration,
    ) -> Result<Answer, ProcessError> {
        let exchange = async {
            let json = WipedBuffer::of_json(first).map_err(|_| ProcessError::Ended)?;
            let frame = Zeroizing::new(encode(&json).map_err(|_| ProcessError::Ended)?);
            self.socket.write_all(&frame).await.map_err(|_| ProcessError::Ended)?;
            let answer = read_frame(&mut self.socket, within)
                .await
                .map_err(|_| ProcessError::Ended)?
                .ok_or(ProcessError::Ended)?;
            serde_json::from_slice(&answer).map_err(|_| ProcessError::Ended)
        };
        timeout(within, exchange).await.map_err(|_| ProcessError::TooSlow)?
    }

    /// SIGKILL, and the process is reaped when this returns.
    pub(super) async fn kill(mut self) {
        kill(&mut self.child).await;
    }
}

/// SIGKILL, and the process is reaped when this returns.
pub(super) async fn kill(child: &mut Child) {
    let _ = child.start_kill();
    let _ = child.wait().await;
}

/// Reads until the worker ends or says what can't be understood. Where replies come one upon the
/// other, those of a moment are read together: so what they wake is awake once for all of them, and a
/// reply waits up to two milliseconds for it.
pub(super) async fn read_replies(
    read: OwnedReadHalf,
    replies: mpsc::Sender<FromSigningWorker>,
    within: Duration,
) {
    let mut read = BufReader::new(read);
    let (mut several, mut emptied_at) = (false, Instant::now());
    while let Ok(Some(frame)) = read_frame(&mut read, within).await {
        let frame = Zeroizing::new(frame);
        let Ok(reply) = serde_json::from_slice(&frame) else { return };
        if replies.send(reply).await.is_err() {
            return;
        }
        if !read.buffer().is_empty() {
            several = true;
            continue;
        }
        let now = Instant::now();
        if several || now.duration_since(emptied_at) < MOMENT {
            sleep(MOMENT).await;
        }
        (several, emptied_at) = (false, now);
    }
}

/// The timer knows none shorter.
const MOMENT: Duration = Duration::from_millis(1);

/// The part of the first frame that is the same for both kinds of worker.
pub(super) fn open(config: &TokenConfig, pin: Secret) -> Open {
    Open {
        module: config.module.clone(),
        serial: config.serial.clone(),
        label: config.label.clone(),
        pin,
        folder: config.folder.clone(),
        own_state: config.own_state(),
        sandbox: config.sandbox,
        system_calls: config.system_calls,
    }
}

#[cfg(test)]
mod tests {
    use chancery_shared::frame::write_frames;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn replies_that_come_together_all_arrive_and_then_the_end_of_the_worker() {
        let (mut worker, ours) = UnixStream::pair().unwrap();
        let (read, _write) = ours.into_split();
        let (sender, mut replies) = mpsc::channel(8);
        let reader = tokio::spawn(read_replies(read, sender, Duration::from_secs(5)));
        let reply = serde_json::to_vec(&FromSigningWorker::EpochBegun).unwrap();

        for together in 1..4 {
            write_frames(&mut worker, &vec![&reply; together]).await.unwrap();
            for _ in 0..together {
                assert!(matches!(replies.recv().await, Some(FromSigningWorker::EpochBegun)));
            }
        }
        drop(worker);

        assert!(replies.recv().await.is_none());
        reader.await.unwrap();
    }
}
