//! Faults that SoftHSM2 never shows: a module in front of it that fails and hangs on demand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use crate::{SoftHsm, template};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shim/fault_shim.c");

/// A faulty module in front of an installation's SoftHSM2.
#[derive(Debug)]
pub struct Faults {
    module: PathBuf,
    control: PathBuf,
    environment: BTreeMap<String, String>,
}

/// What a call does instead of what it should.
#[derive(Clone, Copy, Debug)]
pub enum Fault {
    /// It returns this CKR value.
    Returns(u64),
    /// It never returns.
    Hangs,
}

impl Faults {
    /// A module in front of this installation, well until it is told otherwise.
    ///
    /// # Errors
    ///
    /// There is no C compiler, or a folder can't be written.
    pub fn before(hsm: &SoftHsm) -> Result<Self> {
        let control = hsm.root().join("faults");
        fs::write(&control, "")?;
        let mut environment = hsm.environment();
        for (name, path) in [("SHIM_MODULE", &SoftHsm::module()?), ("SHIM_CONTROL", &control)] {
            environment.insert(name.to_owned(), path.to_string_lossy().into_owned());
        }
        Ok(Self { module: built()?, control, environment })
    }

    /// The module to be configured in place of SoftHSM2's.
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// What a process needs in its environment to find both.
    #[must_use]
    pub fn environment(&self) -> BTreeMap<String, String> {
        self.environment.clone()
    }

    /// From now on `function` fails `times` often, in the process `pid` only or, where that is
    /// `None`, in each.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn inject(
        &self,
        function: &str,
        fault: Fault,
        pid: Option<u32>,
        times: Option<u32>,
    ) -> Result<()> {
        let what = match fault {
            Fault::Returns(value) => format!("{value:#x}"),
            Fault::Hangs => "hang".to_owned(),
        };
        let (pid, times) = (pid.unwrap_or(0), times.unwrap_or(0));
        // In place, not by name: a confined process may read only the file that it knew.
        Ok(fs::write(&self.control, format!("{function} {what} {pid} {times}"))?)
    }

    /// Everything works again.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn heal(&self) -> Result<()> {
        Ok(fs::write(&self.control, "")?)
    }
}

/// The compiled module, made now if it is not there or older than its source.
fn built() -> Result<PathBuf> {
    template::once("fault-shim", Path::new(SOURCE), |half| {
        let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
        let status = Command::new(&compiler)
            .args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"])
            .arg(half.join("fault_shim.so"))
            .args([SOURCE, "-ldl"])
            .status()
            .with_context(|| format!("starting the C compiler {compiler}"))?;
        ensure!(status.success(), "the fault shim does not compile");
        Ok(())
    })
    .map(|folder| folder.join("fault_shim.so"))
}
