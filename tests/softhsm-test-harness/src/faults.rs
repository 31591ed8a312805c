//! Faults that SoftHSM2 never shows: a module in front of it that fails and hangs on demand.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use pkcs11_shim::{Action, Order};

use crate::SoftHsm;

/// Where the shim's file with orders stands in the environment of a process.
const CONTROL: &str = "SHIM_CONTROL";
/// And the module behind it.
const MODULE: &str = "SHIM_MODULE";

/// A faulty module in front of SoftHSM2.
#[derive(Clone, Debug)]
pub struct Faults {
    module: PathBuf,
    control: PathBuf,
}

impl Faults {
    /// A module in front of this installation, well until it is told otherwise.
    ///
    /// # Errors
    ///
    /// The module is not built, or a folder can't be written.
    pub fn before(hsm: &SoftHsm) -> Result<Self> {
        Self::with_control(&hsm.root().join("faults"))
    }

    /// A module that takes its orders from this file, well until it is told otherwise.
    ///
    /// # Errors
    ///
    /// The module is not built, or the file can't be written.
    pub fn with_control(control: &Path) -> Result<Self> {
        fs::write(control, "")?;
        Ok(Self { module: built()?, control: control.to_owned() })
    }

    /// The module to be configured in place of SoftHSM2's.
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// What a process needs in its environment beside what SoftHSM2 needs.
    ///
    /// # Errors
    ///
    /// SoftHSM2 is not installed.
    pub fn environment(&self) -> Result<BTreeMap<String, String>> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        Ok(BTreeMap::from([
            (MODULE.to_owned(), text(&SoftHsm::module()?)),
            (CONTROL.to_owned(), text(&self.control)),
        ]))
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
        action: Action,
        pid: Option<u32>,
        times: Option<u32>,
    ) -> Result<()> {
        self.order(&[Order { pid, times, ..Order::always(function, action) }])
    }

    /// From now on these orders hold, and no others.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn order(&self, orders: &[Order]) -> Result<()> {
        let lines: Vec<_> = orders.iter().map(ToString::to_string).collect();
        // In place, not by name: a confined process may read only the file that it knew.
        Ok(fs::write(&self.control, lines.join("\n"))?)
    }

    /// The device is pulled out: no slot, and every call says so.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn remove_device(&self) -> Result<()> {
        const DEVICE_REMOVED: Action = Action::Returns(0x32);
        self.order(&[
            // The library itself is still there.
            Order::always("C_Initialize", Action::Delays(0)),
            Order::always("C_GetSlotList", Action::FindsNoSlot),
            Order::always("*", DEVICE_REMOVED),
        ])
    }

    /// Everything works again.
    ///
    /// # Errors
    ///
    /// The control file can't be written.
    pub fn heal(&self) -> Result<()> {
        self.order(&[])
    }
}

/// The shim as cargo built it, beside the test or one folder below the program.
fn built() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let folder = program.parent().context("the program has a folder")?;
    [folder.to_owned(), folder.join("deps")]
        .iter()
        .map(|folder| folder.join("libpkcs11_shim.so"))
        .find(|module| module.is_file())
        .with_context(|| format!("no libpkcs11_shim.so in {}", folder.display()))
}
