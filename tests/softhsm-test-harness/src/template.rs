//! The shared template: made once, copied often.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use rustix::fs::{FlockOperation, flock};

use crate::SoftHsm;

/// The template's token folder, made now if it is not there.
pub(crate) fn of(maker: &Path, make: impl FnOnce(&SoftHsm) -> Result<()>) -> Result<PathBuf> {
    let built = fs::metadata(maker).with_context(|| format!("{} is not built", maker.display()))?;
    let templates = templates()?;
    fs::create_dir_all(&templates)?;
    // A new build of the program may make another token.
    let template =
        templates.join(format!("{}-{}-{}", built.ino(), built.mtime(), built.mtime_nsec()));
    let lock =
        File::options().create(true).truncate(false).write(true).open(templates.join("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    if !template.exists() {
        for stale in fs::read_dir(&templates)? {
            let stale = stale?.path();
            if stale.is_dir() {
                fs::remove_dir_all(stale)?;
            }
        }
        let fresh = SoftHsm::empty()?;
        make(&fresh).context("making the template token")?;
        let half = templates.join("half");
        fs::create_dir(&half)?;
        copy(&fresh.token_folder(), &half)?;
        // Whole or not at all.
        fs::rename(&half, &template)?;
    }
    // Two builds of one program are never tested at once in one target folder, so no one removes
    // the template while it is copied.
    Ok(template)
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
fn templates() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.parent().context("a test executable lies in a folder")?;
    Ok(folder.join("softhsm-templates"))
}
