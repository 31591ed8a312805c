//! Makes the token, in a key worker of the signer: the vendor's library reads its configuration
//! from the environment, and is not trusted to return.

use std::path::PathBuf;
use std::time::Duration;

use chancery_signer::token::setup::{self, SetupError};
use chancery_signer::token::{Sandbox, Secret, SystemCalls, TokenConfig};

/// A call to the library may take so long: making a token writes and hashes a lot.
const DEADLINE: Duration = Duration::from_secs(20);

/// What is to be made.
pub(crate) struct Order {
    /// The vendor's library.
    pub(crate) module: PathBuf,
    /// The token's label.
    pub(crate) label: String,
    /// The token's folder.
    pub(crate) folder: PathBuf,
    /// The signer's own folder.
    pub(crate) state_folder: PathBuf,
    /// The variable that names the module's configuration, and its value.
    pub(crate) environment: (String, PathBuf),
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenSetupError {
    /// The programs are not where they were built or installed.
    #[error("chancery-signer, whose key worker makes the token, is not beside chancery-hsm")]
    NoSigner,
    /// The system gives no threads.
    #[error("the token set-up could not be started")]
    Runtime(#[from] std::io::Error),
    /// What the worker said.
    #[error("the token was not made")]
    Failed(#[from] SetupError),
}

/// Makes the token with these PINs.
///
/// # Errors
///
/// Says whether something was changed.
pub(crate) fn make(order: Order, so_pin: &str, user_pin: &str) -> Result<(), TokenSetupError> {
    let program = std::env::current_exe()?.with_file_name("chancery-signer");
    if !program.exists() {
        return Err(TokenSetupError::NoSigner);
    }
    let (variable, configuration) = order.environment;
    let config = TokenConfig {
        name: "init".into(),
        module: order.module,
        serial: None,
        label: Some(order.label),
        environment: [(variable, configuration.to_string_lossy().into_owned())].into(),
        // The PIN goes to the worker with its order; no file is read.
        pin_file: PathBuf::new(),
        folder: order.folder,
        max_keys: 0,
        threads: Some(1),
        deadline: DEADLINE,
        state_folder: order.state_folder,
        program,
        sandbox: Sandbox::Optional,
        system_calls: SystemCalls::Local,
    };
    let secret = |pin: &str| Secret::new(pin.as_bytes().to_vec());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(setup::init_token(&config, secret(so_pin), secret(user_pin)))?;
    Ok(())
}
