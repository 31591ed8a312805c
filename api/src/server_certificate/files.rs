//! Key and chain on disk.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use der::pem::LineEnding;

/// The folder `data/tls`.
#[derive(Clone, Debug)]
pub struct TlsFiles(PathBuf);

/// A certificate with its key.
#[derive(Clone)]
pub struct StoredIdentity {
    /// DER, the service's own first, without the root.
    pub chain: Vec<Vec<u8>>,
    /// PKCS#8.
    pub key: Vec<u8>,
}

const CHAIN: &str = "chain-and-key.pem";

impl TlsFiles {
    /// The folder below the home.
    pub fn below(home: &Path) -> Self {
        Self(home.join("data/tls"))
    }

    /// What is stored, if anything is.
    ///
    /// # Errors
    ///
    /// The file is there and can't be read.
    pub fn read(&self) -> io::Result<Option<StoredIdentity>> {
        let text = match fs::read(self.0.join(CHAIN)) {
            Ok(text) => zeroize::Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut chain = Vec::new();
        let mut key = Vec::new();
        for block in pem::parse_many(&*text).map_err(io::Error::other)? {
            match block.tag() {
                "CERTIFICATE" => chain.push(block.into_contents()),
                "PRIVATE KEY" => key = block.into_contents(),
                _ => {}
            }
        }
        Ok(Some(StoredIdentity { chain, key }))
    }

    /// Replaces what is stored, key and chain at once.
    ///
    /// # Errors
    ///
    /// What was stored before is still there.
    pub fn write(&self, identity: &StoredIdentity) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let encode = |label, der: &[u8]| {
            der::pem::encode_string(label, LineEnding::LF, der).map_err(io::Error::other)
        };
        let mut text = zeroize::Zeroizing::new(encode("PRIVATE KEY", &identity.key)?);
        for certificate in &identity.chain {
            text.push_str(&encode("CERTIFICATE", certificate)?);
        }
        // A temporary file of this crate is readable by its owner alone from the first moment.
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(self.0.join(CHAIN))?;
        fs::File::open(&self.0)?.sync_all()
    }
}
