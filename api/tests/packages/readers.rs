//! The programs that open packages.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use chancery_api::packaging::Contents;
use tempfile::TempDir;

/// The forms of a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Modern,
    Compatible,
    Jks,
    Pem,
}

/// One key with its packages, each a file in a folder of its own.
pub(crate) struct Case {
    folder: TempDir,
    pkcs8: Vec<u8>,
    certificates: Vec<Vec<u8>>,
    password: String,
    name: String,
}

impl Case {
    pub(crate) fn new(contents: &Contents<'_>, password: &str) -> Self {
        let Contents { pkcs8, leaf, chain, name } = *contents;
        let certificates = std::iter::once(leaf.to_vec()).chain(chain.iter().cloned()).collect();
        let (pkcs8, password, name) = (pkcs8.to_vec(), password.to_owned(), name.to_owned());
        Self { folder: tempfile::tempdir().unwrap(), pkcs8, certificates, password, name }
    }

    pub(crate) fn write(&self, form: Form, bytes: &[u8]) {
        std::fs::write(self.file(form), bytes).unwrap();
    }

    fn file(&self, form: Form) -> PathBuf {
        self.folder.path().join(format!("{form:?}"))
    }

    /// `command` with the right password succeeds, with a wrong one fails.
    fn opens(&self, command: impl Fn(&str) -> Command) -> String {
        let right = command(&self.password).output().unwrap();
        assert!(right.status.success(), "{}", said(&right));
        let wrong = command("not the password").output().unwrap();
        assert!(!wrong.status.success(), "a wrong password passed: {}", said(&wrong));
        said(&right)
    }

    pub(crate) fn openssl_p12(&self, form: Form) {
        let text = self.opens(|password| {
            let mut command = Command::new("openssl");
            command.args(["pkcs12", "-nodes", "-passin", "env:P12", "-in"]).arg(self.file(form));
            command.env("P12", password);
            command
        });
        self.assert_whole(&text);
        // OpenSSL shows the low byte of each other letter.
        let name = if self.name.is_ascii() { self.name.as_str() } else { "" };
        let name = format!("friendlyName: {name}");
        assert_eq!(text.matches(&name).count(), 2, "of key and leaf: {text}");
        assert_eq!(text.matches("localKeyID: ").count(), 2, "of key and leaf: {text}");
    }

    pub(crate) fn openssl_pem(&self) {
        let file = self.file(Form::Pem);
        let whole = std::fs::read_to_string(&file).unwrap();
        assert!(whole.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----"));
        let key = self.opens(|password| {
            let mut command = Command::new("openssl");
            command.args(["pkcs8", "-passin", "env:P12", "-in"]).arg(&file).env("P12", password);
            command
        });
        let certificates: String = whole
            .split_inclusive("-----END CERTIFICATE-----")
            .filter(|part| part.contains("END"))
            .collect();
        self.assert_whole(&format!("{certificates}\n{key}"));
    }

    /// Key, leaf and chain stand in `text` as PEM, leaf to root.
    fn assert_whole(&self, text: &str) {
        assert_eq!(self.assert_holds(text), self.certificates);
    }

    /// The key and, of the certificates, the leaf at least stand in `text` as PEM; all of the latter.
    fn assert_holds(&self, text: &str) -> Vec<Vec<u8>> {
        let parts = pem::parse_many(text).unwrap();
        let of = |tag: &str| -> Vec<Vec<u8>> {
            let tagged = parts.iter().filter(|part| part.tag() == tag);
            tagged.map(|part| part.contents().to_vec()).collect()
        };
        // Not byte for byte: most programs write an EC key anew.
        let keys = of("PRIVATE KEY");
        let [key] = keys.as_slice() else { panic!("one key: {text}") };
        assert_eq!(public_half(key), public_half(&self.pkcs8));
        let certificates = of("CERTIFICATE");
        assert!(
            self.certificates.first().is_some_and(|leaf| certificates.contains(leaf)),
            "{text}"
        );
        certificates
    }

    pub(crate) fn keytool(&self, form: Form) {
        let kind = if form == Form::Jks { "JKS" } else { "PKCS12" };
        let listed = self.opens(|password| {
            let mut command = Command::new("keytool");
            command.args(["-list", "-v", "-storetype", kind, "-storepass:env", "P12"]);
            command.arg("-keystore").arg(self.file(form)).env("P12", password);
            command.env("LC_ALL", "C.UTF-8");
            command
        });
        let alias = format!("Alias name: {}", self.name.to_lowercase());
        assert!(listed.contains(&alias), "{listed}");
        assert!(listed.contains("Certificate chain length: 3"), "{listed}");
        let copies = tempfile::tempdir_in(self.folder.path()).unwrap();
        let copy = copies.path().join("imported.p12");
        let mut import = Command::new("keytool");
        import.args(["-importkeystore", "-noprompt", "-srcstoretype", kind]);
        import.args(["-srcstorepass:env", "P12", "-deststorepass:env", "P12"]);
        import.args(["-deststoretype", "PKCS12", "-srckeystore"]).arg(self.file(form));
        import.arg("-destkeystore").arg(&copy).env("P12", &self.password);
        let done = import.output().unwrap();
        assert!(done.status.success(), "{}", said(&done));
        let mut command = Command::new("openssl");
        command.args(["pkcs12", "-nodes", "-passin", "env:P12", "-in"]).arg(&copy);
        let text = said(&command.env("P12", &self.password).output().unwrap());
        self.assert_whole(&text);
    }

    pub(crate) fn certtool(&self, form: Form) {
        let text = self.opens(|password| {
            let mut command = Command::new("certtool");
            command.args(["--p12-info", "--inder", "--password", password, "--infile"]);
            command.arg(self.file(form));
            command
        });
        // It shows the key as it lies in the file.
        let (_, key) = text.split_once("-----BEGIN ENCRYPTED").unwrap();
        let file = tempfile::NamedTempFile::new_in(self.folder.path()).unwrap();
        std::fs::write(file.path(), format!("-----BEGIN ENCRYPTED{key}")).unwrap();
        let mut open = Command::new("openssl");
        open.args(["pkcs8", "-passin", "env:P12", "-in"]).arg(file.path());
        let key = said(&open.env("P12", &self.password).output().unwrap());
        self.assert_whole(&format!("{text}\n{key}"));
        let name = format!("Friendly name: {}", self.name);
        assert_eq!(text.matches(&name).count(), 2, "of key and leaf: {text}");
    }

    pub(crate) fn pk12util(&self, form: Form) {
        let database = tempfile::tempdir_in(self.folder.path()).unwrap();
        let at = format!("sql:{}", database.path().display());
        let new = Command::new("certutil").args(["-N", "--empty-password", "-d", &at]).output();
        assert!(new.unwrap().status.success());
        self.opens(|password| {
            let mut command = Command::new("pk12util");
            command.args(["-d", &at, "-K", "", "-W", password, "-i"]).arg(self.file(form));
            command
        });
        for list in ["-L", "-K"] {
            let listed = Command::new("certutil").args([list, "-d", &at]).output().unwrap();
            assert!(said(&listed).contains(&self.name), "{list}: {}", said(&listed));
        }
        let copy = database.path().join("exported.p12");
        let mut export = Command::new("pk12util");
        export.args(["-d", &at, "-K", "", "-W", "other password", "-n", &self.name, "-o"]);
        let done = export.arg(&copy).output().unwrap();
        assert!(done.status.success(), "{}", said(&done));
        let mut command = Command::new("openssl");
        command.args(["pkcs12", "-nodes", "-passin", "pass:other password", "-in"]).arg(&copy);
        self.assert_holds(&said(&command.output().unwrap()));
    }

    pub(crate) fn python(&self, form: Form) {
        let said = self.opens(|password| {
            let mut command = Command::new(python());
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packages/open.py");
            command.arg(script).arg(self.file(form)).env("P12", password);
            command.env("PYTHONUTF8", "1");
            command
        });
        assert_eq!(said.trim(), format!("{} 2", self.name));
    }
}

/// The Python beside pkilint, which has `cryptography`.
fn python() -> PathBuf {
    let pkilint = std::env::var_os("CHANCERY_TEST_PKILINT").unwrap();
    Path::new(&pkilint).with_file_name("python3")
}

fn public_half(pkcs8: &[u8]) -> Vec<u8> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pkcs8).unwrap();
    let mut command = Command::new("openssl");
    command.args(["pkey", "-inform", "DER", "-pubout", "-outform", "DER", "-in"]).arg(file.path());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    output.stdout
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}
