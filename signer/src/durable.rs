//! Small files that are replaced as a whole and survive a power cut.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Replaces `path` by `content`, readable by its owner alone. A crash leaves the old file or the
/// new one, never a part.
///
/// # Errors
///
/// The old file is still there.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_os_string();
    name.push(".new");
    let fresh = folder.join(name);
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
    file.write_all(content)?;
    file.sync_all()?;
    std::fs::rename(&fresh, path)?;
    File::open(folder)?.sync_all()
}
