//! Keeps signers away from a journal while something works on the signer's files offline.

use std::io;
use std::path::Path;

use super::JournalError;
use super::storage::Folder;

/// No signer opens the journal as long as this is held.
#[derive(Debug)]
pub struct JournalLock {
    _folder: Folder,
}

impl JournalLock {
    /// Of the journal in `folder`, which has to be there.
    ///
    /// # Errors
    ///
    /// A signer runs, or the folder can't be used.
    pub fn take(folder: &Path) -> Result<Self, JournalError> {
        if !folder.is_dir() {
            let source = io::ErrorKind::NotFound.into();
            return Err(JournalError::Folder { folder: folder.to_owned(), source });
        }
        Ok(Self { _folder: Folder::lock(folder)? })
    }
}
