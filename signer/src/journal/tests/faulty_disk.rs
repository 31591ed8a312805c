//! A disk that fails on demand.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Condvar, Mutex};

use rustix::io::Errno;

use crate::journal::storage::{Folder, SegmentFile, Storage, WriteError};

/// What the disk does, shared with the test.
#[derive(Clone, Default)]
pub(super) struct FaultyDisk(Arc<(Mutex<Faults>, Condvar)>);

#[derive(Default)]
struct Faults {
    /// What fails at the moment.
    failing: BTreeSet<Fault>,
    /// How many of them wait.
    waiting: u32,
    writes: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// Writes stop half-way with ENOSPC, new files are not made.
    Full,
    /// ftruncate fails with EIO.
    KeepsLength,
    /// fdatasync fails with EIO.
    LosesPages,
    /// fdatasync waits.
    HoldsSyncs,
}

impl FaultyDisk {
    pub(super) fn over(&self, folder: Folder) -> Box<dyn Storage> {
        Box::new(FaultyFolder { folder, disk: self.clone() })
    }

    pub(super) fn fill(&self) {
        self.begin(Fault::Full);
    }

    pub(super) fn make_room(&self) {
        self.end(Fault::Full);
    }

    pub(super) fn keep_length(&self) {
        self.begin(Fault::KeepsLength);
    }

    pub(super) fn allow_cuts(&self) {
        self.end(Fault::KeepsLength);
    }

    pub(super) fn lose_pages(&self) {
        self.begin(Fault::LosesPages);
    }

    pub(super) fn hold_syncs(&self) {
        self.begin(Fault::HoldsSyncs);
    }

    pub(super) fn release_syncs(&self) {
        self.end(Fault::HoldsSyncs);
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

    fn begin(&self, fault: Fault) {
        self.0.0.lock().unwrap().failing.insert(fault);
    }

    fn end(&self, fault: Fault) {
        let (faults, changed) = &*self.0;
        faults.lock().unwrap().failing.remove(&fault);
        changed.notify_all();
    }

    fn has(&self, fault: Fault) -> bool {
        self.0.0.lock().unwrap().failing.contains(&fault)
    }

    fn sync(&self) -> io::Result<()> {
        let (faults, changed) = &*self.0;
        let mut faults = faults.lock().unwrap();
        faults.waiting += 1;
        changed.notify_all();
        let mut faults = changed
            .wait_while(faults, |faults| faults.failing.contains(&Fault::HoldsSyncs))
            .unwrap();
        faults.waiting -= 1;
        if faults.failing.contains(&Fault::LosesPages) { Err(Errno::IO.into()) } else { Ok(()) }
    }
}

struct FaultyFolder {
    folder: Folder,
    disk: FaultyDisk,
}

impl Storage for FaultyFolder {
    fn create(&self, name: &str, content: &[u8]) -> Result<Box<dyn SegmentFile>, WriteError> {
        if self.disk.has(Fault::Full) {
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
        if self.disk.has(Fault::Full) {
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
        self.disk.0.0.lock().unwrap().writes += 1;
        if self.disk.has(Fault::Full) {
            self.file.write_at(&bytes[..bytes.len() / 2], position)?;
            return Err(Errno::NOSPC.into());
        }
        self.file.write_at(bytes, position)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        if self.disk.has(Fault::KeepsLength) {
            return Err(Errno::IO.into());
        }
        self.file.truncate(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.sync()?;
        self.file.sync()
    }
}
