//! What a test can do to running processes: stop them at a place, make their token and their disk
//! fail, and set their clock.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use chancery_shared::fail_point::{REACHED, VARIABLE};
use rustix::process::Pid;
use softhsm_test_harness::Faults;

/// The means to sabotage the processes of one home.
#[derive(Debug)]
pub struct Sabotage {
    folder: PathBuf,
    /// What is preloaded, with colons between.
    shims: String,
    faults: Faults,
}

/// One order to the disk.
#[derive(Clone, Debug)]
pub struct DiskOrder {
    /// `write` or `sync`.
    pub call: &'static str,
    /// `delay` (milliseconds), `fail` (`errno`, always) or `once` (`errno`, one call a process).
    pub how: &'static str,
    /// Milliseconds or `errno`.
    pub number: i32,
    /// Where.
    pub below: PathBuf,
}

impl Sabotage {
    /// In a folder that every user may pass, with nothing ordered yet. `programs` is the folder of
    /// the built programs.
    ///
    /// # Errors
    ///
    /// A file can't be written, or a shim is not built.
    pub fn prepare(folder: &Path, programs: &Path) -> anyhow::Result<Self> {
        fs::create_dir(folder)?;
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755))?;
        let faults = Faults::with_control(&folder.join("token"))?;
        let shims = ["libdisk_shim.so", "libclock_shim.so"].map(|name| programs.join(name));
        for shim in &shims {
            anyhow::ensure!(shim.is_file(), "no {}", shim.display());
        }
        let shims = shims.map(|shim| shim.to_string_lossy().into_owned()).join(":");
        let made = Self { folder: folder.to_owned(), shims, faults };
        for name in ["place", "disk", "clock"] {
            fs::write(made.folder.join(name), "")?;
        }
        // Written by whoever is stopped there.
        fs::set_permissions(made.place(), fs::Permissions::from_mode(0o666))?;
        Ok(made)
    }

    /// Edits of `signer.toml` that put the faulty module in front of the token.
    ///
    /// # Errors
    ///
    /// SoftHSM2 is not installed.
    pub fn edit(&self, signer_toml: &str) -> anyhow::Result<String> {
        let mut environment: BTreeMap<_, _> = self.faults.environment()?;
        environment.insert(VARIABLE.to_owned(), self.place().to_string_lossy().into_owned());
        let more: Vec<_> =
            environment.iter().map(|(name, value)| format!(", {name} = {value:?}")).collect();
        let softhsm = "environment = { SOFTHSM2_CONF = \"signer/softhsm2.conf\"";
        let line = signer_toml.lines().find(|line| line.starts_with("module = "));
        let line = line.context("signer.toml names no module")?;
        anyhow::ensure!(signer_toml.contains(softhsm), "signer.toml has no {softhsm}");
        Ok(signer_toml
            .replace(softhsm, &format!("{softhsm}{}", more.concat()))
            .replace(line, &format!("module = \"{}\"", self.faults.module().display())))
    }

    /// What a program needs in its environment.
    pub(crate) fn apply(&self, command: &mut Command) {
        command
            .env(VARIABLE, self.place())
            .env("LD_PRELOAD", &self.shims)
            .env("DISK_SHIM_CONTROL", self.folder.join("disk"))
            .env("CLOCK_SHIM_CONTROL", self.folder.join("clock"));
    }

    /// The token's faults.
    #[must_use]
    pub fn token(&self) -> &Faults {
        &self.faults
    }

    /// From now on the disk obeys these orders, and no others.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn disk(&self, orders: &[DiskOrder]) -> anyhow::Result<()> {
        let line = |order: &DiskOrder| {
            let DiskOrder { call, how, number, below } = order;
            format!("{call} {how} {number} {}", below.display())
        };
        let lines: Vec<_> = orders.iter().map(line).collect();
        Ok(fs::write(self.folder.join("disk"), lines.join("\n"))?)
    }

    /// From now on the wall clock is so far from the machine's, as if someone had set it.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn clock(&self, from_the_machines: time::Duration) -> anyhow::Result<()> {
        let seconds = from_the_machines.whole_seconds().to_string();
        Ok(fs::write(self.folder.join("clock"), seconds)?)
    }

    /// The next process that reaches `place` stops there.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn stop_at(&self, place: &str) -> anyhow::Result<()> {
        Ok(fs::write(self.place(), place)?)
    }

    /// The process that has stopped at the place, if one has.
    #[must_use]
    pub fn stopped(&self) -> Option<Pid> {
        let text = fs::read_to_string(self.place()).ok()?;
        Pid::from_raw(text.strip_prefix(REACHED)?.trim().parse().ok()?)
    }

    fn place(&self) -> PathBuf {
        self.folder.join("place")
    }
}
