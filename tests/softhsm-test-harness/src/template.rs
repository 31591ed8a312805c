//! What is made once and used by many tests: under a lock, whole or not at all.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustix::fs::{FlockOperation, flock};

/// The folder of this name as `make` fills it; made now if it is not there, or if `source`, from
/// which it is made, is another file than then.
pub(crate) fn once(
    name: &str,
    source: &Path,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let of = fs::metadata(source).with_context(|| format!("{} is not there", source.display()))?;
    let all = beside_the_tests()?.join(name);
    fs::create_dir_all(&all)?;
    let lock = File::options().create(true).truncate(false).write(true).open(all.join("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    let ready = all.join(format!("{}-{}-{}", of.ino(), of.mtime(), of.mtime_nsec()));
    if !ready.exists() {
        // Two builds of one source are never tested at once in one target folder, so no one uses
        // what an older one has made.
        for stale in fs::read_dir(&all)? {
            let stale = stale?.path();
            if stale.is_dir() {
                fs::remove_dir_all(stale)?;
            }
        }
        let half = all.join("half");
        fs::create_dir(&half)?;
        make(&half)?;
        fs::rename(&half, &ready)?;
    }
    Ok(ready)
}

/// Copies a folder of folders of files.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Beside the test's own executable, so below the target folder in use.
fn beside_the_tests() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.parent().context("a test executable lies in a folder")?;
    Ok(folder.join("softhsm-test-harness"))
}
