//! A folder whose disk is full, and has room again.
//!
//! Where root may mount it is a small file system of its own over the folder. Other users can't have
//! one: for them the disk shim refuses each write of the signer's and the API's below the folder.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;
use rustix::process::getuid;

use crate::openssl::run;
use crate::sabotage::{DiskOrder, Sabotage};

/// `ENOSPC`.
const NO_SPACE: i32 = 28;

/// Room for what a short test writes.
const SIZE: &str = "size=12m";

/// The folder; as root, unmounted when this is dropped.
#[derive(Debug)]
pub struct SmallDisk {
    folder: PathBuf,
    is_mounted: bool,
}

impl SmallDisk {
    /// Over a folder that nothing runs on; what is in it is in it again. One that is not there is
    /// made for the owner of the folder above.
    ///
    /// # Errors
    ///
    /// A file can't be written.
    pub fn under(folder: &Path) -> anyhow::Result<Self> {
        let is_root = getuid().is_root();
        if !folder.exists() {
            let above = fs::metadata(folder.parent().context("a folder above")?)?;
            DirBuilder::new().mode(0o700).create(folder)?;
            chown(folder, Some(above.uid()), Some(above.gid()))?;
        }
        let mut disk = Self { folder: folder.to_owned(), is_mounted: false };
        if is_root {
            let owner = fs::metadata(folder)?;
            let kept = tempfile::tempdir()?;
            let copy = |from: &Path, to: &Path| {
                run(Command::new("cp").arg("--archive").arg(from.join(".")).arg(to))
            };
            copy(folder, kept.path())?;
            let mut mount = Command::new("mount");
            mount.args(["-t", "tmpfs", "-o", SIZE, "tmpfs"]).arg(folder);
            // A container's root may have no right to: then the shim stands in, as for others.
            disk.is_mounted = mount.status()?.success();
            if disk.is_mounted {
                copy(kept.path(), folder)?;
                chown(folder, Some(owner.uid()), Some(owner.gid()))?;
                fs::set_permissions(folder, owner.permissions())?;
            }
        }
        Ok(disk)
    }

    /// From now on there is no room.
    ///
    /// # Errors
    ///
    /// It can't be filled.
    pub fn fill(&self, sabotage: &Sabotage) -> anyhow::Result<()> {
        if !self.is_mounted {
            let below = self.folder.clone();
            return sabotage.disk(&[DiskOrder {
                call: "write",
                how: "fail",
                number: NO_SPACE,
                below,
            }]);
        }
        let mut filler = File::create(self.filler())?;
        loop {
            match filler.write_all(&[0; 4_096]) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::StorageFull => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// There is room again.
    ///
    /// # Errors
    ///
    /// The room can't be made.
    pub fn make_room(&self, sabotage: &Sabotage) -> anyhow::Result<()> {
        if self.is_mounted { Ok(fs::remove_file(self.filler())?) } else { sabotage.disk(&[]) }
    }

    /// Whether programs without the disk shim find it full too.
    #[must_use]
    pub fn is_mounted(&self) -> bool {
        self.is_mounted
    }

    fn filler(&self) -> PathBuf {
        self.folder.join("filler")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        if self.is_mounted {
            let unmounted = run(Command::new("umount").arg("--lazy").arg(&self.folder));
            assert!(unmounted.is_ok() || std::thread::panicking(), "{unmounted:?}");
        }
    }
}
