//! The keys that sign bearer tokens: files in `config/secrets/token-keys`, the same on every host.
//!
//! A file's name is the key's id, its content 32 bytes in hexadecimal. The last one by name signs,
//! all of them verify: a new key is a new file, an old one goes when its tokens have expired.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use chancery_shared::hexadecimal;
use chancery_shared::id::RowId;
use zeroize::{Zeroize as _, Zeroizing};

use crate::clock::Clock;
use crate::random::{self, Random};

/// A key and its id.
pub struct TokenKey {
    /// `kid` of the tokens that it signed.
    pub id: String,
    /// 32 bytes.
    pub secret: Zeroizing<Vec<u8>>,
}

/// Why there are no keys.
#[derive(Debug, thiserror::Error)]
pub enum TokenKeyError {
    /// The folder or a file of it can't be read or made.
    #[error("{} can't be read or made", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Others may read a key: it must be taken for known, and replaced.
    #[error("{} may be read by others; make a new key, with mode 0600", .0.display())]
    Exposed(PathBuf),
    /// A file is no key.
    #[error("{} is no key: 64 hexadecimal characters are expected", .0.display())]
    NotAKey(PathBuf),
}

/// Reads the keys of `folder`, the one that signs last; makes the first one.
///
/// # Errors
///
/// See [`TokenKeyError`].
pub fn load_or_make(
    folder: &Path,
    clock: &dyn Clock,
    random: &dyn Random,
) -> Result<Vec<TokenKey>, TokenKeyError> {
    let at = |path: &Path| {
        let path = path.to_owned();
        move |source| TokenKeyError::Io { path, source }
    };
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))?;
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let name = entry.map_err(at(folder))?.file_name();
        // An editor's or an installer's unfinished file is no key.
        names.extend(name.into_string().ok().filter(|name| name.parse::<RowId>().is_ok()));
    }
    if names.is_empty() {
        names.push(make(folder, clock, random).map_err(at(folder))?);
    }
    names.sort();
    names.into_iter().map(|name| read(folder, name)).collect()
}

fn make(folder: &Path, clock: &dyn Clock, random: &dyn Random) -> io::Result<String> {
    let mut secret = Zeroizing::new([0; 32]);
    random.fill(&mut *secret);
    let name = random::id::<chancery_shared::id::kind::Row>(clock, random).to_string();
    // Whole or not there: a crash leaves no short key behind.
    let unfinished = folder.join(format!("{name}.new"));
    let mut file =
        fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    let text = Zeroizing::new(hexadecimal::encode(*secret));
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(&unfinished, folder.join(&name))?;
    fs::File::open(folder)?.sync_all()?;
    Ok(name)
}

fn read(folder: &Path, id: String) -> Result<TokenKey, TokenKeyError> {
    let path = folder.join(&id);
    let failed = |source| TokenKeyError::Io { path: path.clone(), source };
    let mode = fs::metadata(&path).map_err(failed)?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(TokenKeyError::Exposed(path));
    }
    let mut text = fs::read_to_string(&path).map_err(failed)?;
    let secret = hex::decode(text.trim_end()).map(Zeroizing::new);
    text.zeroize();
    match secret {
        Ok(secret) if secret.len() == 32 => Ok(TokenKey { id, secret }),
        _ => Err(TokenKeyError::NotAKey(path)),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::clock::TestClock;
    use crate::random::SystemRandom;

    fn load(folder: &TempDir) -> Result<Vec<TokenKey>, TokenKeyError> {
        load_or_make(&folder.path().join("token-keys"), &TestClock::default(), &SystemRandom)
    }

    #[test]
    fn the_first_start_makes_a_key_that_the_second_finds() {
        let folder = TempDir::new().unwrap();

        let first = load(&folder).unwrap();
        let second = load(&folder).unwrap();

        assert_eq!((first.len(), second.len()), (1, 1));
        assert_eq!(first[0].id, second[0].id);
        assert_eq!(*first[0].secret, *second[0].secret);
        let path = folder.path().join("token-keys").join(&first[0].id);
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn the_last_key_by_name_comes_last() {
        let folder = TempDir::new().unwrap();
        let first = load(&folder).unwrap();
        let newer = folder.path().join("token-keys/ffffffffffffffffffffffff");
        fs::write(&newer, "ab".repeat(32)).unwrap();
        fs::set_permissions(&newer, fs::Permissions::from_mode(0o600)).unwrap();

        let ids: Vec<_> = load(&folder).unwrap().into_iter().map(|key| key.id).collect();

        assert_eq!(ids, [first[0].id.clone(), "f".repeat(24)]);
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_none_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("token-keys").join(&load(&folder).unwrap()[0].id);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(load(&folder), Err(TokenKeyError::Exposed(_))));

        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, "short").unwrap();
        assert!(matches!(load(&folder), Err(TokenKeyError::NotAKey(_))));
    }
}
