//! Making a new token: for `chancery-hsm init` and for tests.

use super::config::TokenConfig;
use super::copies;
use super::key_protocol::{KeyAction, KeyFailure, KeyOutput, KeyTask};
use super::key_task::exchange;
use super::protocol::OpenFailure;
use super::secret::Secret;
use super::worker_process::{ProcessError, open};

/// A token that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewToken {
    /// CK_TOKEN_INFO model.
    pub model: String,
    /// CK_TOKEN_INFO serialNumber, by which the configuration may name it.
    pub serial: String,
}

/// Why no token was made, or not completely.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The configuration gives no label.
    #[error("a new token needs a label")]
    NoLabel,
    /// Nothing was changed.
    #[error("a token of this label is there already; it was left as it is")]
    TokenExists,
    /// Nothing was changed.
    #[error("the module offers no slot for a new token")]
    NoFreeSlot,
    /// The folder can't be made.
    #[error("the folder {} can't be made", .folder.display())]
    Folder {
        /// Which.
        folder: std::path::PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The worker could not be asked, or could not begin; nothing was changed.
    #[error("the token could not be made")]
    NotBegun(#[source] Cause),
    /// The token may be half made: remove it before the next try.
    #[error("the token could not be made; what is there of it must be removed by hand")]
    HalfMade(#[source] Cause),
}

/// What stopped the making of a token.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct Cause(Inner);

#[derive(Debug, thiserror::Error)]
enum Inner {
    #[error(transparent)]
    Open(OpenFailure),
    #[error(transparent)]
    Key(KeyFailure),
    #[error(transparent)]
    Process(ProcessError),
}

/// Makes the token of `config.label`: SO PIN, user PIN, canary key, seal key.
///
/// It runs in a key worker, because the module reads its settings from the environment. Nothing
/// that exists is changed. `config.serial` and `config.pin_file` are not used.
///
/// # Errors
///
/// Says whether something was changed.
pub async fn init_token(
    config: &TokenConfig,
    so_pin: Secret,
    user_pin: Secret,
) -> Result<NewToken, SetupError> {
    if config.label.as_deref().is_none_or(str::is_empty) {
        return Err(SetupError::NoLabel);
    }
    for folder in [config.folder.clone(), config.own_state()] {
        copies::private_folder(&folder).map_err(|source| SetupError::Folder { folder, source })?;
    }
    let task = KeyTask { open: open(config, user_pin), action: KeyAction::Initialise { so_pin } };
    let answer = exchange(config, &task, config.deadline.saturating_mul(3)).await;
    match answer.map(|answer| answer.result) {
        Ok(Ok(KeyOutput::Initialised(facts))) => {
            Ok(NewToken { model: facts.model, serial: facts.serial })
        }
        Ok(Ok(_)) => Err(SetupError::HalfMade(Cause(Inner::Process(ProcessError::Ended)))),
        Ok(Err(KeyFailure::TokenExists)) => Err(SetupError::TokenExists),
        Ok(Err(KeyFailure::NoFreeSlot)) => Err(SetupError::NoFreeSlot),
        Ok(Err(KeyFailure::Open(failure))) => Err(not_open(failure)),
        Ok(Err(failure)) => Err(SetupError::HalfMade(Cause(Inner::Key(failure)))),
        Err(failure @ ProcessError::Start(_)) => {
            Err(SetupError::NotBegun(Cause(Inner::Process(failure))))
        }
        Err(failure) => Err(SetupError::HalfMade(Cause(Inner::Process(failure)))),
    }
}

/// Sorts by whether the module had begun to work.
fn not_open(failure: OpenFailure) -> SetupError {
    match failure {
        OpenFailure::Module(_)
        | OpenFailure::NoFolder(_)
        | OpenFailure::Sandbox
        | OpenFailure::Hardening(_)
        | OpenFailure::Lock(_)
        | OpenFailure::PinNotText => SetupError::NotBegun(Cause(Inner::Open(failure))),
        OpenFailure::NoToken
        | OpenFailure::SeveralTokens
        | OpenFailure::PinRefused { .. }
        | OpenFailure::PinForgotten
        | OpenFailure::NoCanary
        | OpenFailure::CanaryFails { .. }
        | OpenFailure::Call { .. } => SetupError::HalfMade(Cause(Inner::Open(failure))),
    }
}
