//! A home in a temporary folder, divided between two users where the test may do so.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::getuid;
use tempfile::TempDir;

use crate::openssl::run;
use crate::program::{Program, User};
use crate::programs;
use crate::sabotage::Sabotage;

/// No account has these numbers; the kernel does not mind.
const SIGNER_UID: u32 = 64_001;
const API_UID: u32 = 64_002;
const GROUP: u32 = 64_000;

/// A home that vanishes when it is dropped.
#[derive(Debug)]
pub struct TestHome {
    folder: TempDir,
    programs: PathBuf,
    sabotage: Option<Sabotage>,
}

/// Which user the signer takes requests from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Peer {
    /// The API's user.
    #[default]
    Api,
    /// The test itself, which then speaks to the signer's socket in the API's place.
    Test,
}

impl TestHome {
    /// Runs `chancery-hsm init`, applies `edits` (text to find, text to put there) to
    /// `signer.toml`, and hands each folder to its owner.
    ///
    /// # Errors
    ///
    /// The set-up fails, or a text to find is not there.
    pub fn create(peer: Peer, edits: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::make(peer, edits, false)
    }

    /// As [`Self::create`], and the test has the means to sabotage what runs on it.
    ///
    /// # Errors
    ///
    /// As there.
    pub fn create_to_sabotage(peer: Peer, edits: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::make(peer, edits, true)
    }

    fn make(peer: Peer, edits: &[(&str, &str)], sabotaged: bool) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("chancery-").tempdir()?;
        // The users find their way through, and see nothing else.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711))?;
        let programs = programs::folder()?;
        let mut home = Self { folder, programs, sabotage: None };
        let api_uid = match (peer, api_user()) {
            (Peer::Api, User::Other { uid, .. }) => uid,
            _ => getuid().as_raw(),
        };
        run(home.hsm(&["init", "--trial"]).arg(format!("--api-uid={api_uid}")))?;
        let signer_toml = home.path().join("config/signer.toml");
        let mut text = fs::read_to_string(&signer_toml)?;
        for (find, put) in edits {
            anyhow::ensure!(text.contains(find), "signer.toml has no {find}");
            text = text.replace(find, put);
        }
        if sabotaged {
            // The one folder that signer, workers and API all reach.
            let folder = home.path().join("run/sabotage");
            let sabotage = Sabotage::prepare(&folder, &home.programs)?;
            text = sabotage.edit(&text)?;
            home.sabotage = Some(sabotage);
        }
        fs::write(&signer_toml, text)?;
        home.hand_over()?;
        Ok(home)
    }

    /// Signer's and API's own folders; the home itself lets the API add `root-ca.pem` and remove
    /// nothing that is not its own.
    fn hand_over(&self) -> anyhow::Result<()> {
        let (User::Other { uid: signer, gid }, User::Other { uid: api, .. }) =
            (signer_user(), api_user())
        else {
            return Ok(());
        };
        let home = self.path();
        chown_all(&home.join("signer"), signer, gid)?;
        for (name, owner, mode) in [
            ("", 0, 0o1770),
            ("config", 0, 0o750),
            ("config/signer.toml", signer, 0o600),
            ("config/application.properties", 0, 0o640),
            ("config/secrets", api, 0o700),
            ("data", api, 0o700),
            ("run", signer, 0o750),
        ] {
            let path = home.join(name);
            chown(&path, Some(owner), Some(gid))?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        Ok(())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// A command of `chancery-hsm` on this home.
    #[must_use]
    pub fn hsm(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.programs.join("chancery-hsm"));
        command.args(arguments).arg("--home").arg(self.path());
        command
    }

    /// A command of `chancery-signer` as its user.
    #[must_use]
    pub fn signer(&self) -> Command {
        self.program("chancery-signer", signer_user())
    }

    /// A command of `chancery-api` as its user.
    #[must_use]
    pub fn api(&self) -> Command {
        self.program("chancery-api", api_user())
    }

    fn program(&self, name: &str, user: User) -> Command {
        let mut command = Program::command(&self.programs.join(name), user);
        command.arg("--home").arg(self.path());
        if let Some(sabotage) = &self.sabotage {
            sabotage.apply(&mut command);
        }
        command
    }

    /// The means to sabotage it.
    ///
    /// # Panics
    ///
    /// It was not made for that.
    #[must_use]
    pub fn sabotage(&self) -> &Sabotage {
        self.sabotage.as_ref().expect("a home to sabotage")
    }
}

/// No test leaves a journal that is not sound: whatever it did, each entry is as it was written.
/// Only the end may be torn, because the signer is killed with the test.
impl Drop for TestHome {
    fn drop(&mut self) {
        if std::thread::panicking() || !self.path().join("signer/journal").exists() {
            return;
        }
        let verified = self.hsm(&["journal", "verify"]).output();
        let (status, text) = verified.map_or_else(
            |error| (false, error.to_string()),
            |done| {
                let text = [done.stdout, done.stderr].concat();
                (done.status.success(), String::from_utf8_lossy(&text).into_owned())
            },
        );
        assert!(
            status || text.contains("BROKEN after entry"),
            "the journal that the test leaves: {text}"
        );
    }
}

/// The signer's user.
#[must_use]
pub fn signer_user() -> User {
    other_if_root(SIGNER_UID)
}

/// The API's user.
#[must_use]
pub fn api_user() -> User {
    other_if_root(API_UID)
}

fn other_if_root(uid: u32) -> User {
    if getuid().is_root() { User::Other { uid, gid: GROUP } } else { User::Own }
}

fn chown_all(path: &Path, uid: u32, gid: u32) -> anyhow::Result<()> {
    chown(path, Some(uid), Some(gid))?;
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            chown_all(&entry?.path(), uid, gid)?;
        }
    }
    Ok(())
}
