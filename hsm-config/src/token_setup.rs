//! Makes the token in a child process.
//!
//! A child, because the vendor's library reads its configuration from the environment, and because
//! the library is not trusted to return. The PINs travel on the child's standard input: arguments
//! and environment can be read by others.

use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// What the child is to do. Wiped when it is dropped.
#[derive(Deserialize, Serialize, ZeroizeOnDrop)]
pub(crate) struct Order {
    #[zeroize(skip)]
    module: PathBuf,
    label: String,
    security_officer_pin: String,
    user_pin: String,
}

impl Order {
    /// A token called `label`, with these PINs, in the folder that the environment names.
    pub(crate) fn new(
        module: &Path,
        label: &str,
        security_officer_pin: &str,
        user_pin: &str,
    ) -> Self {
        Self {
            module: module.to_owned(),
            label: label.to_owned(),
            security_officer_pin: security_officer_pin.to_owned(),
            user_pin: user_pin.to_owned(),
        }
    }
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenSetupError {
    /// The child could not be started or talked to.
    #[error("the token set-up could not be started ({0})")]
    Child(#[from] io::Error),
    /// The order could not be read or written.
    #[error("the token set-up was not understood")]
    Order(#[from] serde_json::Error),
    /// The child said why.
    #[error("the token set-up failed: {0}")]
    Failed(String),
}

/// Runs the set-up in a child whose environment holds `variable` = `configuration` alone.
///
/// # Errors
///
/// The child's own words, or why there was none.
pub(crate) fn in_child(
    order: &Order,
    variable: &str,
    configuration: &Path,
) -> Result<(), TokenSetupError> {
    let order = Zeroizing::new(serde_json::to_vec(order)?);
    let mut child = Command::new(std::env::current_exe()?)
        .arg("token-setup")
        .env_clear()
        .env(variable, configuration)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(&order)?;
    }
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    let words = words.trim().trim_start_matches("chancery-hsm: ");
    let said = if words.is_empty() { output.status.to_string() } else { words.to_owned() };
    Err(TokenSetupError::Failed(said))
}

/// The child's side: reads the order and makes the token.
///
/// # Errors
///
/// The order is not readable, or the token module said no.
pub(crate) fn run_child(mut input: impl Read) -> anyhow::Result<()> {
    let mut text = Zeroizing::new(Vec::new());
    input.read_to_end(&mut text)?;
    let order: Order = serde_json::from_slice(&text)?;
    let Order { module, label, security_officer_pin, user_pin } = &order;
    chancery_signer::token::setup::init_token(module, label, security_officer_pin, user_pin)?;
    Ok(())
}
