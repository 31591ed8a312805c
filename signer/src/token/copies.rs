//! Copies of the token's small files, made before anything writes there.
//!
//! SoftHSM2 rewrites `token.object`, which holds the wrapped master key, at every login, and never
//! syncs. A writer killed at that moment leaves it empty, and every key of the token unreadable;
//! the copy brings them back.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

/// Larger files are no token files of SoftHSM2.
const SMALL: u64 = 256 * 1024;
/// SoftHSM2 keeps one folder for each token; nothing lies deeper.
const DEPTH: usize = 2;
/// The file without which a token of SoftHSM2 is gone.
const TOKEN_FILE: &str = "token.object";

/// Copies every small file of `token_folder` to `copies`, on disk when it returns. The copy before
/// it stays until then.
pub(super) fn copy_aside(token_folder: &Path, copies: &Path) -> io::Result<()> {
    let (new, old, now) = (copies.join("new"), copies.join("old"), copies.join("now"));
    for stale in [&new, &old] {
        remove(stale)?;
    }
    private_folder(&new)?;
    for file in files(token_folder)? {
        let Ok(inside) = file.strip_prefix(token_folder) else { continue };
        let target = new.join(inside);
        if let Some(parent) = target.parent() {
            private_folder(parent)?;
        }
        let mut from = File::open(&file)?;
        if from.metadata()?.len() > SMALL {
            continue;
        }
        let mut to = File::options().create_new(true).write(true).mode(0o600).open(&target)?;
        io::copy(&mut from, &mut to)?;
        to.sync_all()?;
    }
    sync_folders(&new)?;
    if now.exists() {
        fs::rename(&now, &old)?;
    }
    fs::rename(&new, &now)?;
    File::open(copies)?.sync_all()?;
    // A destroyed key must not live on in an older copy.
    remove(&old)
}

/// Puts back each token file that is empty and was not when the copy was made.
pub(super) fn restore_empty(token_folder: &Path, copies: &Path) -> io::Result<Vec<PathBuf>> {
    let mut restored = Vec::new();
    for file in empty_files(token_folder)? {
        if file.file_name().is_none_or(|name| name != TOKEN_FILE) {
            continue;
        }
        let Ok(inside) = file.strip_prefix(token_folder) else { continue };
        let Some(kept) = ["now", "old"]
            .iter()
            .map(|copy| copies.join(copy).join(inside))
            .find(|copy| copy.metadata().is_ok_and(|copy| copy.len() > 0))
        else {
            continue;
        };
        // Whole or not at all: the empty file is replaced by name.
        let beside = file.with_extension("restored");
        fs::copy(&kept, &beside)?;
        File::open(&beside)?.sync_all()?;
        fs::rename(&beside, &file)?;
        restored.push(file);
    }
    if !restored.is_empty() {
        sync_folders(token_folder)?;
    }
    Ok(restored)
}

/// As [`restore_empty`], unless a key worker is writing at this moment.
pub(super) fn restore_when_idle(token_folder: &Path, own_state: &Path) -> io::Result<Vec<PathBuf>> {
    private_folder(own_state)?;
    let Some(_alone) = write_lock(own_state, FlockOperation::NonBlockingLockExclusive)? else {
        return Ok(Vec::new());
    };
    restore_empty(token_folder, &own_state.join("copies"))
}

/// The lock of all writers of this token, held until the file is dropped; `None` where it is
/// taken and the operation does not wait.
pub(super) fn write_lock(own_state: &Path, operation: FlockOperation) -> io::Result<Option<File>> {
    let path = own_state.join("write.lock");
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    match flock(&file, operation) {
        Err(Errno::WOULDBLOCK) => Ok(None),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(Some(file)),
    }
}

/// Files of no bytes: what a writer leaves that was killed.
pub(super) fn empty_files(token_folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut empty = Vec::new();
    for file in files(token_folder)? {
        let is_object = file.extension().is_some_and(|extension| extension == "object");
        if is_object && file.metadata()?.len() == 0 {
            empty.push(file);
        }
    }
    Ok(empty)
}

/// Waits until the disk has every file of the folder, and the folder itself.
pub(super) fn sync(token_folder: &Path) -> io::Result<()> {
    for file in files(token_folder)? {
        File::open(file)?.sync_all()?;
    }
    sync_folders(token_folder)
}

fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_path_buf(), 1)];
    while let Some((folder, depth)) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_file() {
                files.push(entry.path());
            } else if kind.is_dir() && depth < DEPTH {
                folders.push((entry.path(), depth + 1));
            }
        }
    }
    files.sort();
    Ok(files)
}

fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            File::open(entry.path())?.sync_all()?;
        }
    }
    File::open(folder)?.sync_all()
}

/// Makes the folder and what is missing above it, for this user only.
pub(super) fn private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folders {
        token: PathBuf,
        copies: PathBuf,
        _all: tempfile::TempDir,
    }

    fn folders() -> Folders {
        let all = tempfile::tempdir().unwrap();
        let (token, copies) = (all.path().join("token"), all.path().join("copies"));
        fs::create_dir_all(token.join("slot")).unwrap();
        fs::create_dir(&copies).unwrap();
        fs::write(token.join("slot/token.object"), b"master key").unwrap();
        fs::write(token.join("slot/a.object"), b"key a").unwrap();
        Folders { token, copies, _all: all }
    }

    #[test]
    fn an_empty_token_file_comes_back_from_the_copy() {
        let folders = folders();
        copy_aside(&folders.token, &folders.copies).unwrap();
        let file = folders.token.join("slot/token.object");
        fs::write(&file, b"").unwrap();

        let restored = restore_empty(&folders.token, &folders.copies).unwrap();

        assert_eq!(restored, vec![file.clone()]);
        assert_eq!(fs::read(file).unwrap(), b"master key");
    }

    #[test]
    fn a_new_copy_replaces_the_old_one_so_that_no_destroyed_key_stays() {
        let folders = folders();
        copy_aside(&folders.token, &folders.copies).unwrap();
        fs::remove_file(folders.token.join("slot/a.object")).unwrap();

        copy_aside(&folders.token, &folders.copies).unwrap();

        assert_eq!(files(&folders.copies).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(
            files(&folders.copies.join("now")).unwrap(),
            vec![folders.copies.join("now/slot/token.object")]
        );
        assert!(!folders.copies.join("old").exists());
    }

    #[test]
    fn a_file_that_was_empty_from_the_start_is_reported_and_left_alone() {
        let folders = folders();
        let debris = folders.token.join("slot/b.object");
        fs::write(&debris, b"").unwrap();
        copy_aside(&folders.token, &folders.copies).unwrap();

        assert_eq!(empty_files(&folders.token).unwrap(), vec![debris]);
        assert_eq!(restore_empty(&folders.token, &folders.copies).unwrap(), Vec::<PathBuf>::new());
    }
}
