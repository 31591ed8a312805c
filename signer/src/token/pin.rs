//! The PIN file, and the memory that a token refused what stands in it.
//!
//! Tokens count wrong PINs and lock. So a refused PIN is remembered on disk, over restarts and for
//! every worker, until the file is another one or the operator says so.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tokio::task::spawn_blocking;
use zeroize::Zeroizing;

use super::error::CkrName;
use super::secret::Secret;
use crate::clock::Clock;

/// Longer is no PIN.
const MAX_PIN: u64 = 1024;

/// Which state of the PIN file a PIN came from; says nothing about the PIN but its rough length.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
pub(super) struct PinSource {
    device: u64,
    inode: u64,
    modified_s: i64,
    modified_ns: i64,
    size: u64,
}

/// Why there is no PIN to try.
#[derive(Debug, thiserror::Error)]
pub(super) enum PinError {
    #[error("the PIN file {} can't be read", path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the PIN file {} may be read by every user; allow only the signer's", path.display())]
    Public { path: PathBuf },
    #[error("the PIN file {} holds no PIN", path.display())]
    Empty { path: PathBuf },
    #[error("the token refused the PIN; change the PIN file or clear the refusal")]
    Refused,
}

/// What is kept on disk of a refusal.
#[derive(Debug, Deserialize, Serialize)]
struct Refusal {
    source: PinSource,
    ckr: CkrName,
    #[serde(with = "time::serde::rfc3339")]
    refused_at: OffsetDateTime,
}

/// The PIN of one token.
#[derive(Clone)]
pub(super) struct PinFile {
    file: PathBuf,
    memory: PathBuf,
    /// Of this process, for the case that the disk does not take it.
    refused: Arc<Mutex<Option<PinSource>>>,
    clock: Arc<dyn Clock>,
}

impl PinFile {
    pub(super) fn new(file: PathBuf, own_state: &Path, clock: Arc<dyn Clock>) -> Self {
        let memory = own_state.join("pin-refused.json");
        Self { file, memory, refused: Arc::default(), clock }
    }

    /// The PIN to try, unless it is known to be refused.
    pub(super) async fn read(&self) -> Result<(Secret, PinSource), PinError> {
        let stopped = |source| PinError::Unreadable { path: self.file.clone(), source };
        self.on_disk(Self::read_now).await.map_err(stopped)?
    }

    /// Whether the PIN that stands in the file now was refused.
    pub(super) async fn is_refused(&self) -> bool {
        self.on_disk(Self::is_refused_now).await.unwrap_or(true)
    }

    /// Lets nobody try the PIN of this source again, however long the disk takes to remember it.
    pub(super) fn mark(&self, source: PinSource) {
        *self.lock() = Some(source);
    }

    /// Remembers, on disk when it returns, that the PIN of this source was refused.
    pub(super) async fn remember(&self, source: PinSource, ckr: CkrName) -> io::Result<()> {
        self.mark(source.clone());
        self.on_disk(move |pin| pin.remember_now(source, ckr)).await?
    }

    /// Forgets the refusal: the operator says that the PIN may be tried once more.
    pub(super) async fn forget(&self) -> io::Result<()> {
        self.on_disk(Self::forget_now).await?
    }

    /// A disk takes as long as it likes; nobody else waits for it.
    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> io::Result<T> {
        let pin = self.clone();
        spawn_blocking(move || work(&pin)).await.map_err(io::Error::other)
    }

    fn read_now(&self) -> Result<(Secret, PinSource), PinError> {
        let unreadable = |source| PinError::Unreadable { path: self.file.clone(), source };
        let file = File::open(&self.file).map_err(unreadable)?;
        let metadata = file.metadata().map_err(unreadable)?;
        if metadata.mode() & 0o007 != 0 {
            return Err(PinError::Public { path: self.file.clone() });
        }
        let source = PinSource::of(&metadata);
        if self.was_refused(&source) {
            return Err(PinError::Refused);
        }
        // Allocated once: growing would leave copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(2048));
        file.take(MAX_PIN).read_to_end(&mut bytes).map_err(unreadable)?;
        let pin = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let pin = pin.strip_suffix(b"\r").unwrap_or(pin);
        if pin.is_empty() {
            return Err(PinError::Empty { path: self.file.clone() });
        }
        Ok((Secret::new(pin.to_vec()), source))
    }

    fn is_refused_now(&self) -> bool {
        fs::metadata(&self.file).is_ok_and(|file| self.was_refused(&PinSource::of(&file)))
    }

    fn remember_now(&self, source: PinSource, ckr: CkrName) -> io::Result<()> {
        let refusal = Refusal { source, ckr, refused_at: self.clock.now() };
        let beside = self.memory.with_extension("new");
        let mut file =
            File::options().create(true).truncate(true).write(true).mode(0o600).open(&beside)?;
        file.write_all(&serde_json::to_vec(&refusal)?)?;
        file.sync_all()?;
        fs::rename(&beside, &self.memory)?;
        sync_parent(&self.memory)
    }

    fn forget_now(&self) -> io::Result<()> {
        *self.lock() = None;
        match fs::remove_file(&self.memory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
            Ok(()) => sync_parent(&self.memory),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<PinSource>> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn was_refused(&self, source: &PinSource) -> bool {
        if self.lock().as_ref() == Some(source) {
            return true;
        }
        match fs::read(&self.memory) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(_) => true,
            // A memory that can't be read is a refusal: to try would be the greater risk.
            Ok(json) => serde_json::from_slice(&json)
                .map_or(true, |refusal: Refusal| refusal.source == *source),
        }
    }
}

impl PinSource {
    fn of(file: &fs::Metadata) -> Self {
        Self {
            device: file.dev(),
            inode: file.ino(),
            modified_s: file.mtime(),
            modified_ns: file.mtime_nsec(),
            size: file.size(),
        }
    }
}

fn sync_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::clock::SystemClock;

    fn pin_file(content: &[u8]) -> (PinFile, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pin");
        write(&path, content);
        (PinFile::new(path, folder.path(), Arc::new(SystemClock)), folder)
    }

    fn write(path: &Path, content: &[u8]) {
        let _ = fs::remove_file(path);
        fs::write(path, content).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn refused() -> CkrName {
        CkrName::fixed("CKR_PIN_INCORRECT")
    }

    #[test]
    fn a_pin_ends_before_the_line_does() {
        for content in [&b"1234"[..], b"1234\n", b"1234\r\n"] {
            let (pin_file, _folder) = pin_file(content);

            assert_eq!(pin_file.read_now().unwrap().0.expose(), b"1234");
        }
    }

    #[test]
    fn a_pin_file_that_everyone_may_read_is_refused() {
        let (pin_file, _folder) = pin_file(b"1234");
        fs::set_permissions(&pin_file.file, fs::Permissions::from_mode(0o604)).unwrap();

        assert!(matches!(pin_file.read_now(), Err(PinError::Public { .. })));
    }

    #[tokio::test]
    async fn a_refused_pin_stays_refused_over_a_restart_until_the_file_changes() {
        let (pin_file, folder) = pin_file(b"1234");
        let (_, source) = pin_file.read_now().unwrap();
        pin_file.remember(source, refused()).await.unwrap();

        let restarted = PinFile::new(pin_file.file.clone(), folder.path(), Arc::new(SystemClock));

        assert!(restarted.is_refused_now());
        assert!(matches!(restarted.read_now(), Err(PinError::Refused)));
        write(&pin_file.file, b"12345");
        assert!(!restarted.is_refused_now());
        assert_eq!(restarted.read_now().unwrap().0.expose(), b"12345");
    }

    #[tokio::test]
    async fn the_operator_can_have_the_same_pin_tried_again() {
        let (pin_file, _folder) = pin_file(b"1234");
        let (_, source) = pin_file.read_now().unwrap();
        pin_file.remember(source, refused()).await.unwrap();

        pin_file.forget_now().unwrap();

        assert!(pin_file.read_now().is_ok());
    }

    #[test]
    fn a_damaged_memory_counts_as_a_refusal() {
        let (pin_file, _folder) = pin_file(b"1234");
        fs::write(&pin_file.memory, b"{").unwrap();

        assert!(matches!(pin_file.read_now(), Err(PinError::Refused)));
    }
}
