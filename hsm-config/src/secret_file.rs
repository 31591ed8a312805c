//! Files that hold one secret each, readable for their owner alone.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use chancery_shared::hexadecimal;
use zeroize::Zeroizing;

/// The secret in `path`, made on the first call and kept from then on.
///
/// # Errors
///
/// The file can't be read or made, or is empty. An existing file is never overwritten.
pub(crate) fn read_or_create(path: &Path) -> Result<Zeroizing<String>, SecretFileError> {
    match read(path) {
        Err(SecretFileError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
            let secret = random()?;
            write_new(path, secret.as_bytes())?;
            Ok(secret)
        }
        other => other,
    }
}

/// The secret in `path`, without the line's end.
///
/// # Errors
///
/// The file can't be read or is empty.
pub(crate) fn read(path: &Path) -> Result<Zeroizing<String>, SecretFileError> {
    let text = Zeroizing::new(fs::read_to_string(path)?);
    let secret = text.trim_end_matches(['\r', '\n']);
    if secret.is_empty() {
        return Err(SecretFileError::Empty);
    }
    Ok(Zeroizing::new(secret.to_owned()))
}

/// 128 random bits in hexadecimal: within every token's PIN length, and beyond guessing.
fn random() -> Result<Zeroizing<String>, SecretFileError> {
    let mut bytes = Zeroizing::new([0; 16]);
    aws_lc_rs::rand::fill(bytes.as_mut()).map_err(|_| SecretFileError::NoRandomness)?;
    Ok(Zeroizing::new(hexadecimal::encode(bytes.as_ref())))
}

/// The file appears with its whole content or not at all, so that a crash leaves no empty PIN.
fn write_new(path: &Path, secret: &[u8]) -> io::Result<()> {
    let unfinished = path.with_extension("new");
    let mut file =
        OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    file.write_all(secret)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&unfinished, path)
}

/// Why there is no secret.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SecretFileError {
    /// The file system refused.
    #[error("it can't be read or made ({0})")]
    Io(#[from] io::Error),
    /// A file without a secret; making a new one would hide that the old one is lost.
    #[error("it is empty: put the secret back, or remove the file if nothing was made with it")]
    Empty,
    /// The kernel gave no random bytes.
    #[error("the kernel gave no random bytes")]
    NoRandomness,
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_secret_is_made_once_and_is_its_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pin");

        let first = read_or_create(&path).unwrap();
        let second = read_or_create(&path).unwrap();

        assert_eq!(first, second);
        assert_eq!(first.len(), 32);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_empty_secret_is_refused_and_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pin");
        fs::write(&path, "\n").unwrap();

        let refused = read_or_create(&path);

        assert!(matches!(refused, Err(SecretFileError::Empty)));
        assert_eq!(fs::read(&path).unwrap(), b"\n");
    }
}
