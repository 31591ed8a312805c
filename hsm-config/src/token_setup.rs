//! Makes the token, in a key worker as the signer itself uses one.
//!
//! A child, because the vendor's library reads its configuration from the environment, and because
//! the library is not trusted to return.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::time::Duration;

use chancery_signer::token::setup::{self, NewToken, SetupError};
use chancery_signer::token::{Sandbox, Secret, SystemCalls, TokenConfig};
use zeroize::Zeroizing;

use crate::home::Home;
use crate::profile::Profile;

/// A token to be made.
#[derive(Debug)]
pub(crate) struct Order<'a> {
    /// What is known of the vendor.
    pub(crate) profile: &'a Profile,
    /// The vendor's library.
    pub(crate) module: &'a Path,
    /// Of the token.
    pub(crate) label: &'a str,
    /// Where its files will be.
    pub(crate) folder: &'a Path,
    /// The module's configuration file, which names that folder.
    pub(crate) configuration: &'a Path,
    /// Initialises the token, and is not needed again.
    pub(crate) security_officer_pin: &'a Zeroizing<String>,
    /// Opens it.
    pub(crate) user_pin: &'a Zeroizing<String>,
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TokenSetupError {
    /// The worker could not be started or talked to.
    #[error("the token set-up could not be started ({0})")]
    Start(#[from] io::Error),
    /// The worker said why.
    #[error(transparent)]
    Failed(#[from] SetupError),
}

/// Makes the token with its canary key and seal key.
///
/// # Errors
///
/// Says whether something was made that must be removed.
pub(crate) fn make(home: &Home, order: &Order<'_>) -> Result<NewToken, TokenSetupError> {
    let Order { profile, module, label, folder, configuration, security_officer_pin, user_pin } =
        order;
    let configuration = configuration.to_string_lossy().into_owned();
    let config = TokenConfig {
        name: profile.name.clone(),
        module: module.to_path_buf(),
        serial: None,
        label: Some((*label).to_owned()),
        environment: BTreeMap::from([(profile.configuration_variable.clone(), configuration)]),
        pin_file: home.pin(),
        folder: folder.to_path_buf(),
        max_keys: profile.max_keys,
        threads: None,
        deadline: Duration::from_secs(30),
        state_folder: home.signer(),
        program: std::env::current_exe()?,
        // The token is empty, and the operator is there: what holds for the signer is not asked.
        sandbox: Sandbox::Optional,
        system_calls: SystemCalls::Local,
    };
    let secret = |pin: &str| Secret::new(pin.as_bytes().to_vec());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let made = setup::init_token(&config, secret(security_officer_pin), secret(user_pin));
    Ok(runtime.block_on(made)?)
}
