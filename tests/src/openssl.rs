//! OpenSSL's command line: keys, requests, and what it says of a certificate.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

/// The kinds of subject key that the service certifies, as `openssl genpkey` names them.
pub const KEY_KINDS: [(&str, &[&str]); 7] = [
    ("RSA 2048", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"]),
    ("RSA 3072", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:3072"]),
    ("RSA 4096", &["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:4096"]),
    ("ECDSA P-256", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]),
    ("ECDSA P-384", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]),
    ("ECDSA P-521", &["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]),
    ("Ed25519", &["-algorithm", "ED25519"]),
];

/// A folder in which files are made for OpenSSL and read back.
#[derive(Debug)]
pub struct Workbench {
    folder: tempfile::TempDir,
}

impl Workbench {
    /// An empty one, gone when it is dropped.
    ///
    /// # Errors
    ///
    /// No temporary folder.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: tempfile::tempdir()? })
    }

    /// A file in it.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file; the result is its path.
    ///
    /// # Errors
    ///
    /// The file can't be written.
    pub fn write(&self, name: &str, content: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.path(name);
        std::fs::write(&path, content)?;
        Ok(path)
    }

    /// Makes a private key of a kind of [`KEY_KINDS`].
    ///
    /// # Errors
    ///
    /// OpenSSL does not.
    pub fn key(&self, kind: &[&str]) -> anyhow::Result<PathBuf> {
        let path = self.path("key.pem");
        run(Command::new("openssl").arg("genpkey").args(kind).arg("-out").arg(&path))?;
        Ok(path)
    }

    /// A PEM request for `key` with this subject and these names (`DNS:…,IP:…`; empty: none).
    ///
    /// # Errors
    ///
    /// OpenSSL does not make it.
    pub fn request(&self, key: &Path, subject: &str, names: &str) -> anyhow::Result<String> {
        let mut command = Command::new("openssl");
        command.args(["req", "-new", "-utf8", "-subj", subject, "-key"]).arg(key);
        if !names.is_empty() {
            command.args(["-addext", &format!("subjectAltName={names}")]);
        }
        run(&mut command)
    }

    /// A fresh P-256 key and a PEM request for it.
    ///
    /// # Errors
    ///
    /// OpenSSL does not make them.
    pub fn fresh_request(&self, subject: &str, names: &str) -> anyhow::Result<String> {
        let key = self.key(&["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])?;
        self.request(&key, subject, names)
    }

    /// What `openssl x509` says about a PEM certificate with these options.
    ///
    /// # Errors
    ///
    /// It can't read the certificate.
    pub fn about(&self, pem: &str, options: &[&str]) -> anyhow::Result<String> {
        let path = self.write("about.pem", pem.as_bytes())?;
        let text =
            run(Command::new("openssl").args(["x509", "-noout", "-in"]).arg(path).args(options))?;
        Ok(text.trim_end().to_owned())
    }

    /// The DER of a PEM certificate.
    ///
    /// # Errors
    ///
    /// OpenSSL can't read it.
    pub fn der(&self, pem: &str) -> anyhow::Result<Vec<u8>> {
        let path = self.write("der.pem", pem.as_bytes())?;
        let out = self.path("der.der");
        run(Command::new("openssl")
            .args(["x509", "-outform", "DER", "-in"])
            .arg(path)
            .arg("-out")
            .arg(&out))?;
        Ok(std::fs::read(out)?)
    }

    /// `openssl verify -x509_strict` of `leaf` through `chain` (PEM, any order) to `root`.
    ///
    /// # Errors
    ///
    /// OpenSSL's own words where it does not accept it.
    pub fn verify(&self, leaf: &str, chain: &str, root: &str) -> anyhow::Result<()> {
        let leaf = self.write("leaf.pem", leaf.as_bytes())?;
        let chain = self.write("chain.pem", chain.as_bytes())?;
        let root = self.write("root.pem", root.as_bytes())?;
        let mut command = Command::new("openssl");
        command.args(["verify", "-x509_strict", "-CAfile"]).arg(root);
        // OpenSSL refuses a file without certificates.
        if std::fs::metadata(&chain)?.len() > 0 {
            command.arg("-untrusted").arg(chain);
        }
        run(command.arg(leaf)).map(|_| ())
    }

    /// pkilint's findings of severity ERROR and above, for each certificate of a chain (PEM).
    ///
    /// # Errors
    ///
    /// As [`Self::lint`].
    pub fn lint_chain(&self, chain: &str) -> anyhow::Result<()> {
        let certificates = chain.split_inclusive("-----END CERTIFICATE-----");
        certificates.filter(|text| text.contains("BEGIN")).try_for_each(|text| self.lint(text))
    }

    /// pkilint's findings of severity ERROR and above.
    ///
    /// # Errors
    ///
    /// It has some, or there is no pkilint: a failure, never a skip.
    pub fn lint(&self, pem: &str) -> anyhow::Result<()> {
        let program = std::env::var_os("CHANCERY_TEST_PKILINT").context(
            "CHANCERY_TEST_PKILINT names no lint_pkix_cert; ./test.sh system installs it",
        )?;
        let path = self.write("lint.pem", pem.as_bytes())?;
        run(Command::new(program).args(["lint", "-s", "ERROR"]).arg(path)).map(|_| ())
    }
}

/// Runs a command to its end; the result is what it wrote.
///
/// # Errors
///
/// It fails; both its outputs are told.
pub fn run(command: &mut Command) -> anyhow::Result<String> {
    let output = command.output().with_context(|| format!("starting {command:?}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    anyhow::ensure!(
        output.status.success(),
        "{command:?}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(text)
}
