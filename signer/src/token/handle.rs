//! The handle by which the signer uses a token.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::operator::TokenStatus;
use chancery_shared::wire::v1::{TokenState, TokenSummary};
use tokio::sync::{Mutex, Semaphore, mpsc, oneshot, watch};

use super::backoff::Backoff;
use super::config::TokenConfig;
use super::error::TokenError;
use super::job::{Job, Message, QUEUE};
use super::key_protocol::{KeyAction, KeyOutput, SweepReport};
use super::pin::PinFile;
use super::protocol::{Operation, Output};
use super::secret::Secret;
use super::status::{Standing, Status, total};
use super::supervisor::Supervisor;
use super::{key_task, seal};
use crate::clock::Clock;

/// A handle to one token; clones are the same token.
#[derive(Clone)]
pub struct Token {
    shared: Arc<Shared>,
}

/// What all handles share. The supervisor holds none of it but status and configuration, so that
/// it ends when the last handle goes.
pub(super) struct Shared {
    pub(super) config: Arc<TokenConfig>,
    pub(super) status: Arc<Status>,
    pub(super) pin: PinFile,
    pub(super) supervisor: mpsc::UnboundedSender<Message>,
    /// Places in the queue.
    places: Arc<Semaphore>,
    /// One key worker at a time.
    pub(super) key_tasks: Mutex<()>,
}

impl Token {
    /// Starts the token's supervisor on the current tokio runtime. It never fails: how the token
    /// is, [`Token::summary`] says, and a token that is not there is looked for until it is.
    pub fn start(config: TokenConfig, clock: Arc<dyn Clock>) -> Self {
        let config = Arc::new(config);
        let status = Arc::new(Status::new());
        let pin = PinFile::new(config.pin_file.clone(), &config.own_state(), clock);
        let (sender, inbox) = mpsc::unbounded_channel();
        let supervisor = Supervisor {
            config: Arc::clone(&config),
            status: Arc::clone(&status),
            pin: pin.clone(),
            inbox,
            waiting: VecDeque::new(),
            epochs_wanted: Vec::new(),
            backoff: Backoff::default(),
            gave_no_answer: false,
        };
        tokio::spawn(supervisor.run());
        let shared = Shared {
            config,
            status,
            pin,
            supervisor: sender,
            places: Arc::new(Semaphore::new(QUEUE)),
            key_tasks: Mutex::new(()),
        };
        Self { shared: Arc::new(shared) }
    }

    /// Makes a key pair in the token and returns the DER of its SubjectPublicKeyInfo. The key is
    /// tried and on disk, and the signing worker sees it.
    ///
    /// # Errors
    ///
    /// No key was made, or what was made of it is to be swept as pending.
    pub async fn create_key(
        &self,
        key_id: KeyId,
        key_algorithm: KeyAlgorithm,
        signature_algorithm: SignatureAlgorithm,
    ) -> Result<Vec<u8>, TokenError> {
        if !key_algorithm.makes(signature_algorithm) {
            return Err(TokenError::WrongAlgorithm);
        }
        let max_keys = self.shared.config.max_keys;
        let action = KeyAction::Create { key_id, key_algorithm, signature_algorithm, max_keys };
        match self.key_task(action).await? {
            KeyOutput::Created(Bytes(spki)) => Ok(spki),
            _ => Err(TokenError::BadPublicKey),
        }
    }

    /// Destroys the private key of this id for good. A key that is not there is destroyed.
    ///
    /// # Errors
    ///
    /// The key may still be there.
    pub async fn destroy_key(&self, key_id: KeyId) -> Result<(), TokenError> {
        self.key_task(KeyAction::Destroy { key_id }).await.map(drop)
    }

    /// Destroys what is left of pending keys, and reports what is on the token but not known, and
    /// the reverse. For the signer's start.
    ///
    /// # Errors
    ///
    /// Some of the pending keys may still be there.
    pub async fn sweep(
        &self,
        pending: Vec<KeyId>,
        known: Vec<KeyId>,
    ) -> Result<SweepReport, TokenError> {
        match self.key_task(KeyAction::Sweep { pending, known }).await? {
            KeyOutput::Swept(report) => Ok(report),
            _ => Err(TokenError::Unavailable),
        }
    }

    /// What a sweep found holds until the next one; [`Token::lacks`] tells.
    pub fn note_sweep(&self, report: &SweepReport) {
        self.shared.status.contents.swept(report);
    }

    pub(super) fn note_asked<T>(&self, key_id: KeyId, answer: &Result<T, TokenError>) {
        if self.shared.status.contents.asked(key_id, answer) {
            let token = &self.shared.config.name;
            tracing::error!(token, %key_id, "the token does not find a key of the keyring any more");
        }
    }

    /// Whether the token was found not to hold the key: by the sweep at the start, or since, when it
    /// was to sign.
    #[must_use]
    pub fn lacks(&self, key_id: KeyId) -> bool {
        self.shared.status.contents.lacks(key_id)
    }

    /// Whether it was found not to hold all that it should.
    #[must_use]
    pub fn lacks_any(&self) -> bool {
        self.shared.status.contents.lacks_any()
    }

    /// Encrypts a data key of 32 bytes under the token's seal key.
    ///
    /// # Errors
    ///
    /// Any other length is refused.
    pub async fn seal(&self, data_key: Secret) -> Result<Vec<u8>, TokenError> {
        if data_key.expose().len() != seal::DATA_KEY {
            return Err(TokenError::NotADataKey);
        }
        let mut iv = vec![0; seal::IV];
        aws_lc_rs::rand::fill(&mut iv).map_err(|_| TokenError::Unavailable)?;
        let operation = Operation::Seal { iv: Bytes(iv.clone()), secret: data_key };
        match self.call(operation).await? {
            Output::Sealed(Bytes(sealed)) => seal::join(&iv, &sealed),
            _ => Err(TokenError::Unavailable),
        }
    }

    /// Opens what [`Token::seal`] made on this token.
    ///
    /// # Errors
    ///
    /// [`TokenError::SealBroken`] for everything else.
    pub async fn unseal(&self, blob: &[u8]) -> Result<Secret, TokenError> {
        let (iv, sealed) = seal::split(blob)?;
        let operation =
            Operation::Unseal { iv: Bytes(iv.to_vec()), sealed: Bytes(sealed.to_vec()) };
        match self.call(operation).await {
            Ok(Output::Unsealed(data_key)) => Ok(data_key),
            // SoftHSM2 calls a wrong tag a general error; the canary has shown that the token
            // is well.
            Ok(_) | Err(TokenError::Refused { .. }) => Err(TokenError::SealBroken),
            Err(other) => Err(other),
        }
    }

    /// Allows one more try of a PIN that was refused.
    pub async fn clear_pin_refusal(&self) {
        let (done, cleared) = oneshot::channel();
        if self.shared.supervisor.send(Message::ClearPinRefusal(done)).is_ok() {
            let _ = cleared.await;
        }
    }

    /// Answers what waits, ends the worker in order, and returns when it is gone.
    pub async fn stop(self) {
        // A key worker is never cut off while it writes.
        let _alone = self.shared.key_tasks.lock().await;
        let (done, stopped) = oneshot::channel();
        if self.shared.supervisor.send(Message::Stop(done)).is_ok() {
            let _ = stopped.await;
        }
    }

    /// Its name in `signer.toml`.
    pub fn name(&self) -> &str {
        &self.shared.config.name
    }

    /// How many keys it may hold.
    pub fn max_keys(&self) -> u32 {
        self.shared.config.max_keys
    }

    /// Whether it signs.
    pub fn state(&self) -> TokenState {
        self.shared.status.state()
    }

    /// How it is, and every change of it.
    pub fn watch(&self) -> watch::Receiver<Standing> {
        self.shared.status.watch()
    }

    /// As the API sees it; how many keys are used, only the keyring knows.
    pub fn summary(&self, used_keys: u32) -> TokenSummary {
        let Standing { state, message, facts, .. } = self.shared.status.standing();
        TokenSummary {
            name: self.shared.config.name.clone(),
            model: facts.model,
            serial: facts.serial,
            state,
            message,
            key_algorithms: facts.key_algorithms,
            used_keys,
            max_keys: self.shared.config.max_keys,
            unknown_keys: self.shared.status.contents.unknown(),
        }
    }

    /// As the operator sees it.
    pub fn status(&self, used_keys: u32) -> TokenStatus {
        let status = &self.shared.status;
        TokenStatus {
            summary: self.summary(used_keys),
            signatures: total(&status.signatures),
            canary_signatures: total(&status.canary_signatures),
            trial_signatures: total(&status.trial_signatures),
            failures: status.failures(),
            workers_started: total(&status.workers_started),
            epochs: total(&status.epochs),
            worker_pid: status.standing().worker_pid,
            unknown_objects: status.contents.first_unknown(),
        }
    }

    /// How far its workers are confined, one sentence, once one has started.
    pub fn sandbox(&self) -> Option<String> {
        self.shared.status.standing().sandbox
    }

    /// Has the signing worker do it, or says at once that too much waits already.
    pub(super) async fn call(&self, operation: Operation) -> Result<Output, TokenError> {
        let place =
            Arc::clone(&self.shared.places).try_acquire_owned().map_err(|_| TokenError::Busy)?;
        let (job, answer) = Job::new(operation, self.shared.config.deadline, place);
        let gone = |_| TokenError::Unavailable;
        self.shared.supervisor.send(Message::Job(job)).map_err(|_| TokenError::Unavailable)?;
        answer.await.map_err(gone)?
    }

    /// Runs to its end even where the caller goes away.
    async fn key_task(&self, action: KeyAction) -> Result<KeyOutput, TokenError> {
        if self.shared.status.state() == TokenState::PinRefused
            && self.shared.pin.is_refused().await
        {
            return Err(TokenError::PinRefused);
        }
        let shared = Arc::clone(&self.shared);
        tokio::spawn(async move { key_task::run(&shared, action).await })
            .await
            .map_err(|_| TokenError::NoWorker)?
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("name", &self.shared.config.name).finish_non_exhaustive()
    }
}
