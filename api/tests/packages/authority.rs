//! A root and a CA below it, made by OpenSSL.

use std::path::PathBuf;
use std::process::Command;

use tempfile::TempDir;

/// What certifies the keys of the tests.
pub(crate) struct Authority {
    folder: TempDir,
    /// DER of the CA that issues and of the root.
    pub(crate) chain: Vec<Vec<u8>>,
}

impl Authority {
    pub(crate) fn new() -> Self {
        let authority = Self { folder: tempfile::tempdir().unwrap(), chain: Vec::new() };
        let at = |name: &str| authority.path(name);
        let ca = ["-addext", "basicConstraints=critical,CA:true"];
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
        openssl(
            Command::new("openssl")
                .args(["req", "-x509", "-days", "10", "-subj", "/CN=Test Root"])
                .args(curve)
                .args(["-keyout".into(), at("root.key"), "-out".into(), at("root.pem")]),
        );
        openssl(
            Command::new("openssl")
                .args(["req", "-x509", "-days", "10", "-subj", "/CN=Test CA"])
                .args(curve)
                .args(ca)
                .args(["-CA".into(), at("root.pem"), "-CAkey".into(), at("root.key")])
                .args(["-keyout".into(), at("ca.key"), "-out".into(), at("ca.pem")]),
        );
        let chain = ["ca.pem", "root.pem"].map(|name| der_of(&at(name)));
        Self { chain: chain.into(), ..authority }
    }

    /// The certificate for a CSR.
    pub(crate) fn certify(&self, csr: &[u8]) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (request, certificate) = (folder.path().join("csr"), folder.path().join("leaf"));
        std::fs::write(&request, csr).unwrap();
        openssl(
            Command::new("openssl")
                .args(["x509", "-req", "-inform", "DER", "-days", "5"])
                .args(["-in".into(), request, "-out".into(), certificate.clone()])
                .args(["-CA".into(), self.path("ca.pem"), "-CAkey".into(), self.path("ca.key")]),
        );
        der_of(&certificate)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn der_of(path: &PathBuf) -> Vec<u8> {
    pem::parse(std::fs::read(path).unwrap()).unwrap().into_contents()
}

fn openssl(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
