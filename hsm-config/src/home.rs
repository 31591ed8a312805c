//! The home: where everything of one installation is, and who may look into it.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// The folders of a home and their permissions. `signer` is the signer's alone, `config/secrets`
/// and `data` are the API's; the group of `run` may reach the sockets in it.
const FOLDERS: [(&str, u32); 7] = [
    ("", 0o700),
    ("config", 0o750),
    ("config/secrets", 0o700),
    ("signer", 0o700),
    ("data", 0o700),
    ("run", 0o750),
    ("log", 0o750),
];

/// An installation's folder, by its absolute path.
#[derive(Clone, Debug)]
pub(crate) struct Home {
    path: PathBuf,
}

impl Home {
    /// The home at `path`, which need not exist.
    ///
    /// # Errors
    ///
    /// The current folder is gone, so that a relative path means nothing.
    pub(crate) fn at(path: &Path) -> io::Result<Self> {
        Ok(Self { path: std::path::absolute(path)? })
    }

    /// Makes the folders that are missing. Permissions of existing ones stay as they are.
    ///
    /// # Errors
    ///
    /// A folder can't be made.
    pub(crate) fn create(&self) -> io::Result<()> {
        for (folder, mode) in FOLDERS {
            let path = self.path.join(folder);
            if !path.is_dir() {
                DirBuilder::new().recursive(folder.is_empty()).mode(mode).create(&path)?;
            }
        }
        self.sync_folder("")
    }

    /// Makes a rename or a new file in one of the folders durable.
    ///
    /// # Errors
    ///
    /// The folder is not there or can't be synced.
    pub(crate) fn sync_folder(&self, folder: &str) -> io::Result<()> {
        File::open(self.path.join(folder))?.sync_all()
    }

    /// Whether the signer has ever written to its journal here.
    pub(crate) fn has_journal(&self) -> bool {
        fs::read_dir(self.journal()).is_ok_and(|mut files| files.next().is_some())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn signer(&self) -> PathBuf {
        self.path.join("signer")
    }

    pub(crate) fn token(&self) -> PathBuf {
        self.path.join("signer/token")
    }

    pub(crate) fn journal(&self) -> PathBuf {
        self.path.join("signer/journal")
    }

    pub(crate) fn keyring(&self) -> PathBuf {
        self.path.join("signer/keyring.json")
    }

    pub(crate) fn pin(&self) -> PathBuf {
        self.path.join("signer/pin")
    }

    pub(crate) fn security_officer_pin(&self) -> PathBuf {
        self.path.join("signer/so-pin")
    }

    pub(crate) fn signer_toml(&self) -> PathBuf {
        self.path.join("config/signer.toml")
    }

    pub(crate) fn application_properties(&self) -> PathBuf {
        self.path.join("config/application.properties")
    }

    pub(crate) fn operator_socket(&self) -> PathBuf {
        self.path.join("run/operator.sock")
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_new_home_is_closed_to_everyone_else_and_a_second_creation_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(&folder.path().join("deep/home")).unwrap();
        let mode =
            |name: &str| fs::metadata(home.path().join(name)).unwrap().permissions().mode() & 0o777;

        home.create().unwrap();
        fs::set_permissions(home.path().join("run"), fs::Permissions::from_mode(0o711)).unwrap();
        home.create().unwrap();

        assert_eq!(mode(""), 0o700);
        assert_eq!(mode("signer"), 0o700);
        assert_eq!(mode("config/secrets"), 0o700);
        assert_eq!(mode("run"), 0o711);
        assert!(!home.has_journal());
    }
}
