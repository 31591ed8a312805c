//! The journal's folder as the writer sees it, so that tests can let the disk fail.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{Advice, FlockOperation, Mode, OFlags, fadvise, flock, open};
use rustix::io::Errno;

use super::record::{FRAME_LEN, MAX_ENTRY};
use super::segment::UNFINISHED;
use super::{JournalError, ReadError};

/// Where segments are made and opened for writing.
pub(super) trait Storage: Send {
    /// Makes a file with this content, on disk with its name when this returns.
    fn create(&self, name: &str, content: &[u8]) -> Result<Box<dyn SegmentFile>, WriteError>;
    /// Opens a file to write at its end.
    fn open(&self, name: &str) -> io::Result<Box<dyn SegmentFile>>;
    /// Tries whether the longest entry could be written.
    fn has_room(&self) -> io::Result<()>;
}

/// A segment that is open for writing.
pub(super) trait SegmentFile: Send {
    /// Writes at this position; after an error any part of it may be there.
    fn write_at(&mut self, bytes: &[u8], position: u64) -> io::Result<()>;
    /// Cuts the file to this length.
    fn truncate(&mut self, length: u64) -> io::Result<()>;
    /// Waits until the disk has what was written.
    fn sync(&mut self) -> io::Result<()>;
}

/// Why something is not on disk.
#[derive(Debug)]
pub(super) enum WriteError {
    /// It is not written, and may be tried again.
    NotWritten(io::Error),
    /// It may or may not be on disk. The kernel drops such pages and reports the error once, so
    /// trying again would succeed without having written anything.
    NotSynced(io::Error),
}

/// The real folder, locked as long as this lives.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    handle: File,
}

impl Folder {
    /// Makes the folder where it is missing, and locks it against a second signer.
    pub(super) fn lock(path: &Path) -> Result<Self, JournalError> {
        let failed = |source| JournalError::Folder { folder: path.to_owned(), source };
        if !path.exists() {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
            if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
                File::open(parent).and_then(|parent| parent.sync_all()).map_err(failed)?;
            }
        }
        // Close-on-exec: a worker that outlives the signer must not keep the lock.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = open(path, flags, Mode::empty())
            .map(File::from)
            .map_err(|error| failed(error.into()))?;
        match flock(&handle, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => Err(JournalError::Locked { folder: path.to_owned() }),
            Err(error) => Err(failed(error.into())),
            Ok(()) => Ok(Self { path: path.to_owned(), handle }),
        }
    }

    /// Removes what an earlier process had not finished making.
    pub(super) fn remove_unfinished(&self) -> Result<(), ReadError> {
        let failed = |error| ReadError::file(&self.path, error);
        for file in fs::read_dir(&self.path).map_err(failed)? {
            let file = file.map_err(failed)?;
            if file.file_name().to_str().is_some_and(|name| name.ends_with(UNFINISHED)) {
                fs::remove_file(file.path()).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Makes what is read next come from the disk itself. After a failed sync the kernel would
    /// show pages that never got there.
    pub(super) fn settle(&self, name: &str) -> Result<(), ReadError> {
        let path = self.path.join(name);
        let settle = || {
            let file = File::options().read(true).write(true).open(&path)?;
            file.sync_data()?;
            fadvise(&file, 0, None, Advice::DontNeed)?;
            io::Result::Ok(())
        };
        settle().map_err(|error| ReadError::file(&path, error))
    }

    fn new_file(&self, name: &str) -> io::Result<(PathBuf, File)> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(&path)?;
        Ok((path, file))
    }
}

impl Storage for Folder {
    fn create(&self, name: &str, content: &[u8]) -> Result<Box<dyn SegmentFile>, WriteError> {
        let (unfinished, mut file) =
            self.new_file(&format!("{name}{UNFINISHED}")).map_err(WriteError::NotWritten)?;
        let written = file
            .write_all(content)
            .map_err(WriteError::NotWritten)
            .and_then(|()| file.sync_data().map_err(WriteError::NotSynced))
            .and_then(|()| {
                fs::rename(&unfinished, self.path.join(name)).map_err(WriteError::NotWritten)
            });
        if let Err(error) = written {
            // What stays here counts for nothing and goes at the next start.
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        self.handle.sync_all().map_err(WriteError::NotSynced)?;
        Ok(Box::new(OnDisk(file)))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn SegmentFile>> {
        let file = File::options().write(true).open(self.path.join(name))?;
        Ok(Box::new(OnDisk(file)))
    }

    fn has_room(&self) -> io::Result<()> {
        let (path, mut file) = self.new_file(&format!("room{UNFINISHED}"))?;
        // Room is only certain once the file system has placed the blocks.
        let tried = file.write_all(&vec![0; FRAME_LEN + MAX_ENTRY]).and_then(|()| file.sync_data());
        fs::remove_file(path)?;
        tried
    }
}

#[derive(Debug)]
struct OnDisk(File);

impl SegmentFile for OnDisk {
    fn write_at(&mut self, bytes: &[u8], position: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, position)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.0.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_data()
    }
}
