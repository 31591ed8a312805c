//! One SoftHSM2 token folder per test, from a shared template, gone at the end.
//!
//! Making a token costs tens of milliseconds and two key generations; copying one costs almost
//! nothing. So a template is made once for each build of the program that makes it, under a lock,
//! in the target folder, and every test gets a copy that no other test sees.

mod faults;
mod template;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

pub use faults::Faults;
pub use pkcs11_shim::{Action, FUNCTIONS, Order};

/// Label of the token that the harness knows.
pub const LABEL: &str = "test";
/// Its user PIN.
pub const USER_PIN: &str = "1234-user";
/// Its SO PIN.
pub const SO_PIN: &str = "5678-so";

/// A SoftHSM2 installation of its own: configuration, token folder, PIN files, a place for state.
/// Dropping it removes everything.
#[derive(Debug)]
pub struct SoftHsm {
    root: tempfile::TempDir,
}

impl SoftHsm {
    /// An installation without a token.
    ///
    /// # Errors
    ///
    /// The temporary folder can't be written.
    pub fn empty() -> Result<Self> {
        let root = tempfile::Builder::new().prefix("softhsm-test-").tempdir()?;
        let hsm = Self { root };
        fs::create_dir(hsm.token_folder())?;
        fs::create_dir(hsm.state_folder())?;
        fs::write(
            hsm.configuration(),
            format!(
                "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\n\
                 slots.removable = false\n",
                hsm.token_folder().display()
            ),
        )?;
        write_secret(&hsm.pin_file(), USER_PIN)?;
        write_secret(&hsm.so_pin_file(), SO_PIN)?;
        Ok(hsm)
    }

    /// An installation with a copy of the token that `make` makes. `make` runs once for each
    /// build of `maker`, the program that it uses; it finds an empty installation.
    ///
    /// # Errors
    ///
    /// `make` failed, or a folder can't be written.
    pub fn from_template(maker: &Path, make: impl FnOnce(&Self) -> Result<()>) -> Result<Self> {
        let template = template::once("token", maker, |half| {
            let fresh = Self::empty()?;
            make(&fresh).context("making the template token")?;
            template::copy(&fresh.token_folder(), half)
        })?;
        let hsm = Self::empty()?;
        template::copy(&template, &hsm.token_folder())
            .context("copying the template's token folder")?;
        Ok(hsm)
    }

    /// SoftHSM2's PKCS#11 library.
    ///
    /// # Errors
    ///
    /// It is not installed: a failure of the test, never a reason to skip it.
    pub fn module() -> Result<PathBuf> {
        const PLACES: [&str; 4] = [
            "/usr/lib/softhsm/libsofthsm2.so",
            "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
            "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so",
            "/usr/lib64/softhsm/libsofthsm2.so",
        ];
        PLACES
            .iter()
            .map(PathBuf::from)
            .find(|place| place.exists())
            .context("SoftHSM2 is not installed (apt-get install softhsm2)")
    }

    /// The folder that holds everything of this installation.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Where SoftHSM2 keeps its tokens.
    #[must_use]
    pub fn token_folder(&self) -> PathBuf {
        self.root().join("token")
    }

    /// Where the signer may keep the state of its workers.
    #[must_use]
    pub fn state_folder(&self) -> PathBuf {
        self.root().join("state")
    }

    /// `softhsm2.conf`.
    #[must_use]
    pub fn configuration(&self) -> PathBuf {
        self.root().join("softhsm2.conf")
    }

    /// The file with [`USER_PIN`], for its owner only.
    #[must_use]
    pub fn pin_file(&self) -> PathBuf {
        self.root().join("pin")
    }

    /// The file with [`SO_PIN`], for its owner only.
    #[must_use]
    pub fn so_pin_file(&self) -> PathBuf {
        self.root().join("so-pin")
    }

    /// What a process needs in its environment to find this installation.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        let configuration = self.configuration().to_string_lossy().into_owned();
        BTreeMap::from([("SOFTHSM2_CONF".to_owned(), configuration)])
    }
}

/// Replaces the file by one that only its owner may read.
///
/// # Errors
///
/// The folder can't be written.
pub fn write_secret(path: &Path, secret: &str) -> Result<()> {
    use std::io::Write as _;
    let beside = path.with_extension("new");
    let mut file =
        fs::File::options().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
    file.write_all(secret.as_bytes())?;
    // By name: a new file, as an editor or a secret store would leave it.
    fs::rename(&beside, path)?;
    Ok(())
}
