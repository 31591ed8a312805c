//! Small files that are replaced as a whole and survive a power cut.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, fchown};
use std::path::Path;

/// Replaces `path` by `content`, readable by its owner alone. A crash leaves the old file or the
/// new one, never a part.
///
/// # Errors
///
/// The old file is still there.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    replace_with(path, content, |_| Ok(()))
}

/// As [`replace`], and the new file belongs to whom `owner` says.
///
/// # Errors
///
/// The old file is still there.
pub(crate) fn replace_for(path: &Path, content: &[u8], owner: &Metadata) -> io::Result<()> {
    replace_with(path, content, |file| fchown(file, Some(owner.uid()), Some(owner.gid())))
}

fn replace_with(
    path: &Path,
    content: &[u8],
    prepare: impl FnOnce(&File) -> io::Result<()>,
) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(".new");
    let fresh = folder.join(name);
    // What a crash has left, or a link that somebody has put there for root to follow.
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
    prepare(&file)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    File::open(folder)?.sync_all()
}
