//! A disk that fails on demand.

use std::io;
use std::sync::{Arc, Condvar, Mutex};

use rustix::io::Errno;

use crate::journal::storage::{Folder, SegmentFile, Storage, WriteError};

/// What the disk does, shared with the test.
#[derive(Clone, Default)]
pub(super) struct FaultyDisk(Arc<(Mutex<Faults>, Condvar)>);

#[derive(Default)]
struct Faults {
    /// Writes stop half-way with ENOSPC, new files are not made.
    is_full: bool,
    /// ftruncate fails with EIO.
    keeps_length: bool,
    /// fdatasync fails with EIO.
    loses_pages: bool,
    /// fdatasync waits.
    holds_syncs: bool,
    /// How many of them wait.
    waiting: u32,
    writes: u32,
}

impl FaultyDisk {
    pub(super) fn over(&self, folder: Folder) -> Box<dyn Storage> {
        Box::new(FaultyFolder { folder, disk: self.clone() })
    }

    pub(super) fn fill(&self) {
        self.change(|faults| faults.is_full = true);
    }

    pub(super) fn make_room(&self) {
        self.change(|faults| faults.is_full = false);
    }

    pub(super) fn keep_length(&self, keeps: bool) {
        self.change(|faults| faults.keeps_length = keeps);
    }

    pub(super) fn lose_pages(&self) {
        self.change(|faults| faults.loses_pages = true);
    }

    pub(super) fn hold_syncs(&self) {
        self.change(|faults| faults.holds_syncs = true);
    }

    pub(super) fn release_syncs(&self) {
        self.change(|faults| faults.holds_syncs = false);
    }

    /// Returns once a sync is held.
    pub(super) fn wait_for_sync(&self) {
        let (faults, changed) = &*self.0;
        let held = changed.wait_while(faults.lock().unwrap(), |faults| faults.waiting == 0);
        drop(held.unwrap());
    }

    /// How often something was written.
    pub(super) fn writes(&self) -> u32 {
        self.0.0.lock().unwrap().writes
    }

    fn change(&self, change: impl FnOnce(&mut Faults)) {
        let (faults, changed) = &*self.0;
        change(&mut faults.lock().unwrap());
        changed.notify_all();
    }

    fn sync(&self) -> io::Result<()> {
        let (faults, changed) = &*self.0;
        let mut faults = faults.lock().unwrap();
        faults.waiting += 1;
        changed.notify_all();
        let mut faults = changed.wait_while(faults, |faults| faults.holds_syncs).unwrap();
        faults.waiting -= 1;
        if faults.loses_pages { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

struct FaultyFolder {
    folder: Folder,
    disk: FaultyDisk,
}

impl Storage for FaultyFolder {
    fn create(&self, name: &str, content: &[u8]) -> Result<Box<dyn SegmentFile>, WriteError> {
        if self.disk.0.0.lock().unwrap().is_full {
            return Err(WriteError::NotWritten(Errno::NOSPC.into()));
        }
        self.disk.sync().map_err(WriteError::NotSynced)?;
        let file = self.folder.create(name, content)?;
        Ok(Box::new(FaultyFile { file, disk: self.disk.clone() }))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn SegmentFile>> {
        let file = self.folder.open(name)?;
        Ok(Box::new(FaultyFile { file, disk: self.disk.clone() }))
    }

    fn has_room(&self) -> io::Result<()> {
        if self.disk.0.0.lock().unwrap().is_full {
            return Err(Errno::NOSPC.into());
        }
        self.folder.has_room()
    }
}

struct FaultyFile {
    file: Box<dyn SegmentFile>,
    disk: FaultyDisk,
}

impl SegmentFile for FaultyFile {
    fn write_at(&mut self, bytes: &[u8], position: u64) -> io::Result<()> {
        let is_full = {
            let mut faults = self.disk.0.0.lock().unwrap();
            faults.writes += 1;
            faults.is_full
        };
        if is_full {
            self.file.write_at(&bytes[..bytes.len() / 2], position)?;
            return Err(Errno::NOSPC.into());
        }
        self.file.write_at(bytes, position)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        if self.disk.0.0.lock().unwrap().keeps_length {
            return Err(Errno::IO.into());
        }
        self.file.truncate(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.sync()?;
        self.file.sync()
    }
}
