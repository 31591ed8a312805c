//! `init`: from nothing to a home that the signer can start on. Every step keeps what is there.
//!
//! First folders and PINs; then the token, made aside and moved into place whole, so that a crash
//! leaves either none or a finished one; the configuration last: without it nothing starts.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::home::Home;
use crate::profile::{Profile, ProfileError};
use crate::secret_file::{self, SecretFileError};
use crate::settings::{self, Purpose, SignerSettings};
use crate::token_setup::{self, Order, TokenSetupError};

/// What the operator may choose.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Settings for one user on one machine: CA certificates need no approval, no budget, and a
    /// kernel without Landlock will do.
    #[arg(long)]
    trial: bool,
    /// The only user that may ask for signatures [default: the caller].
    #[arg(long, value_name = "UID")]
    api_uid: Option<u32>,
    /// The only user that may use the operator socket [default: the caller].
    #[arg(long, value_name = "UID")]
    operator_uid: Option<u32>,
    /// The vendor's PKCS#11 library [default: where distributions put SoftHSM2's].
    #[arg(long, value_name = "FILE")]
    module: Option<PathBuf>,
    /// The token's label.
    #[arg(long, default_value = "chancery")]
    label: String,
}

/// What `init` made and what it found.
#[derive(Debug)]
pub(crate) struct Report(Vec<String>);

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// Why there is no usable home. What was made so far stays and is used next time.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
    /// A folder or file can't be made.
    #[error("{} can't be made ({source})", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// See [`ProfileError`].
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// A PIN file is of no use.
    #[error("{}: {source}", path.display())]
    Pin {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        source: SecretFileError,
    },
    /// The journal tells of keys whose token is gone: a new one would hide the loss.
    #[error(
        "{} is gone but this signer has a journal: put the token's folder back from its copy",
        .0.display()
    )]
    TokenLost(PathBuf),
    /// See [`TokenSetupError`].
    #[error(transparent)]
    TokenSetup(#[from] TokenSetupError),
}

/// Makes what is missing.
///
/// # Errors
///
/// Says what could not be made; nothing that was there before has changed.
pub(crate) fn init(home: &Home, options: &Options) -> Result<Report, InitError> {
    let mut report = Report(Vec::new());

    // 1. Folders.
    home.create().map_err(|source| InitError::File { path: home.path().to_owned(), source })?;

    // 2. The vendor's module.
    let profile = Profile::softhsm2()?;
    let module = profile.module(options.module.as_deref())?;

    // 3. PINs. 4. The token. A token that is there has its PINs already, wherever they are kept.
    if home.token().is_dir() {
        report.0.push(format!("kept the token in {}", home.token().display()));
    } else {
        create_token(home, &profile, &module, options)?;
        report.0.push(format!("made a token in {}", home.token().display()));
    }

    // 5. The module's configuration names an absolute path, so it follows a home that has moved.
    let conf = home.signer().join("softhsm2.conf");
    let text = settings::softhsm2_conf(&home.token());
    if fs::read_to_string(&conf).ok().as_deref() != Some(text.as_str()) {
        replace(&conf, &text)?;
    }

    // 6. Configuration.
    let caller = rustix::process::getuid().as_raw();
    let signer_toml = settings::signer_toml(&SignerSettings {
        api_uid: options.api_uid.unwrap_or(caller),
        operator_uid: options.operator_uid.unwrap_or(caller),
        purpose: if options.trial { Purpose::Trial } else { Purpose::Production },
        token: &options.label,
        module: &module,
        profile: &profile,
    });
    let properties = settings::application_properties();
    for (path, text, mode) in [
        (home.application_properties(), properties, 0o644),
        (home.signer_toml(), signer_toml.as_str(), 0o600),
    ] {
        let made = create_once(&path, text, mode)?;
        report.0.push(format!("{} {}", if made { "wrote" } else { "kept" }, path.display()));
    }
    sync(home, "config")?;
    Ok(report)
}

fn create_token(
    home: &Home,
    profile: &Profile,
    module: &Path,
    options: &Options,
) -> Result<(), InitError> {
    if home.has_journal() {
        return Err(InitError::TokenLost(home.token()));
    }
    let pin = |path: PathBuf| {
        secret_file::read_or_create(&path).map_err(|source| InitError::Pin { path, source })
    };
    let security_officer_pin = pin(home.security_officer_pin())?;
    let user_pin = pin(home.pin())?;
    sync(home, "signer")?;

    // What an earlier call left unfinished was never used: its folder never got its name.
    let unfinished = home.signer().join("token.unfinished");
    let file_error = |path: &Path| {
        let path = path.to_owned();
        move |source| InitError::File { path, source }
    };
    if unfinished.exists() {
        fs::remove_dir_all(&unfinished).map_err(file_error(&unfinished))?;
    }
    DirBuilder::new().mode(0o700).create(&unfinished).map_err(file_error(&unfinished))?;
    let conf = home.signer().join("softhsm2.unfinished.conf");
    replace(&conf, &settings::softhsm2_conf(&unfinished))?;
    let order = Order {
        profile,
        module,
        label: &options.label,
        folder: &unfinished,
        configuration: &conf,
        security_officer_pin: &security_officer_pin,
        user_pin: &user_pin,
    };
    token_setup::make(home, &order)?;
    fs::remove_file(&conf).map_err(file_error(&conf))?;
    fs::rename(&unfinished, home.token()).map_err(file_error(&unfinished))?;
    sync(home, "signer")
}

/// Writes `text` unless the file is there; says whether it did.
fn create_once(path: &Path, text: &str, mode: u32) -> Result<bool, InitError> {
    let write = || -> io::Result<bool> {
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
            Ok(mut file) => {
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                Ok(true)
            }
        }
    };
    write().map_err(|source| InitError::File { path: path.to_owned(), source })
}

fn replace(path: &Path, text: &str) -> Result<(), InitError> {
    fs::write(path, text).map_err(|source| InitError::File { path: path.to_owned(), source })
}

fn sync(home: &Home, folder: &str) -> Result<(), InitError> {
    let file_error = |source| InitError::File { path: home.path().join(folder), source };
    home.sync_folder(folder).map_err(file_error)
}
