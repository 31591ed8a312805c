//! One installation for all cases, and what it did with each.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_tests::openssl::{Workbench, run};
use chancery_tests::reading::{self, Reading};
use chancery_tests::{Answer, Client, ISSUER, Installation, Plan};
use serde_json::{Value, json};

use super::procedures::{self, PATIENCE};
use super::table::{Case, Ending, Use};

/// The issuer of the cases `nc`.
pub(crate) const CONSTRAINED: &str = "Constrained CA";

/// A running service with an issuer for each kind of case.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) installation: Installation,
    pub(crate) administrator: Client,
    pub(crate) bench: Workbench,
    /// A private key whose public key the operator has listed as known.
    pub(crate) listed_key: PathBuf,
}

/// What became of a case.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) ending: Ending,
    /// `status code: message` of a refusal; what the history says beside of a certificate.
    pub(crate) said: String,
}

impl Outcome {
    /// A refusal, in the one shape of errors.
    pub(crate) fn refused(answer: &Answer) -> anyhow::Result<Self> {
        let (code, body) = (answer.code()?, answer.json()?);
        anyhow::ensure!((400..500).contains(&answer.status), "{}", answer.text());
        let message = text(&body, "/message")?;
        let said = format!("{} {code}: {message}", answer.status);
        Ok(Self { ending: Ending::Reject, said })
    }
}

impl Scene {
    pub(crate) fn start() -> anyhow::Result<Self> {
        let bench = Workbench::new()?;
        let listed_key = bench.path("listed.pem");
        std::fs::rename(bench.key(&["-algorithm", "ED25519"])?, &listed_key)?;
        let installation = Self::install(&hash_of_public_key(&listed_key)?)?;
        let administrator = installation.administrator();
        let constraints = json!({
            "permitted": ["DNS:nc.example.test", "IP:192.0.2.0/24", "EMAIL:.example.test"],
            "excluded": ["DNS:secret.nc.example.test"],
        });
        let ca = json!({
            "rootCa": true, "keyAlgorithm": "ECDSA P-256", "hashAlgorithm": "SHA-256",
            "nameConstraints": constraints,
        });
        administrator.create_ca(CONSTRAINED, ca)?;
        Ok(Self { installation, administrator, bench, listed_key })
    }

    /// A service whose operator lets CAs and certificates live for 40 years, and knows one more
    /// bad key than it was shipped with.
    fn install(bad_key: &str) -> anyhow::Result<Installation> {
        let signer_edits = vec![
            ("maxValidityDays = 398", "maxValidityDays = 15000"),
            ("maxValidityDays = 9200", "maxValidityDays = 15000"),
        ];
        let api_lines = vec!["csr.bad-keys.file=config/bad-keys.txt"];
        let mut installation =
            Installation::prepare(Plan { signer_edits, api_lines, ..Plan::default() });
        let list = format!("# Found in a backup.\n{bad_key}\n");
        std::fs::write(installation.home().path().join("config/bad-keys.txt"), list)?;
        installation.start_again();
        Ok(installation)
    }

    /// Asks `issuer` for a certificate and looks at what comes.
    pub(crate) fn ask(&self, issuer: &str, csr: &str) -> anyhow::Result<Answer> {
        self.administrator.post("/api/certs/requestp10", &json!({"caName": issuer, "csr": csr}))
    }

    /// Feeds a case from a file to the service, and holds its certificate against OpenSSL's
    /// reading of the request.
    pub(crate) fn run(&self, case: &Case) -> anyhow::Result<Outcome> {
        let sent = case.bytes()?;
        let csr = match case.fed_as {
            Use::Upload => STANDARD.encode(&sent),
            _ => String::from_utf8(sent.clone())?,
        };
        let issuer = if case.id.starts_with("nc-") { CONSTRAINED } else { ISSUER };
        let began = Instant::now();
        let answer = self.ask(issuer, &csr)?;
        anyhow::ensure!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
        if answer.status != 200 {
            return Outcome::refused(&answer);
        }
        let made = answer.json()?;
        let id = text(&made, "/certId")?;
        let pem = text(&made, "/pemCert")?;
        let record = self.administrator.record(id)?;
        if let Some(secret) = &case.secret {
            let log = self.installation.api().output().text();
            let is_told = log.contains(secret) || record.to_string().contains(secret);
            anyhow::ensure!(!is_told, "{secret} is in log or record");
        }
        if case.again {
            let second = self.ask(issuer, &csr)?.expect_status(200)?.json()?;
            let second = text(&second, "/certId")?;
            let second = self.administrator.record(second)?;
            anyhow::ensure!(
                text(&second, "/serialNumber")? != text(&record, "/serialNumber")?,
                "{second}"
            );
        }
        self.check_certificate(case, &sent, issuer, pem)?;
        self.check_record(pem, &record)?;
        procedures::issued(&record)
    }

    fn check_certificate(
        &self,
        case: &Case,
        sent: &[u8],
        issuer: &str,
        pem: &str,
    ) -> anyhow::Result<()> {
        let made = reading::certificate(&self.bench, pem)?;
        let asked = match (reading::request(&self.bench, sent), &case.subject) {
            (Ok(asked), None) => asked,
            (Ok(asked), Some(subject)) => Reading { subject: subject.clone(), ..asked },
            // OpenSSL itself refuses to read some of the requests that are put right here.
            (Err(_), Some(subject)) => {
                let (key, request) = (made.key_der()?, reading::der(sent)?);
                let is_asked = request.windows(key.len()).any(|window| window == key);
                anyhow::ensure!(is_asked, "another key: {}", made.key);
                let (subject, names) = (subject.clone(), case.names.clone());
                Reading { subject, names, ..made.clone() }
            }
            (Err(error), None) => return Err(error),
        };
        anyhow::ensure!(made.key == asked.key, "another key: {}", made.key);
        anyhow::ensure!(made.subject == asked.subject, "the subject is {}", made.subject);
        anyhow::ensure!(made.names == asked.different_names(), "the names are {:?}", made.names);
        for title in ["X509v3 Key Usage:", "X509v3 Extended Key Usage:"] {
            let ours = ["Digital Signature", "Key Encipherment"];
            let purposes = ["TLS Web Server Authentication", "TLS Web Client Authentication"];
            let values = made.extension(title);
            let is_ours = |value: &String| {
                ours.contains(&value.as_str()) || purposes.contains(&value.as_str())
            };
            anyhow::ensure!(!values.is_empty() && values.iter().all(is_ours), "{values:?}");
        }
        let without_subject = made.subject.is_empty();
        let is_critical = made.is_critical("X509v3 Subject Alternative Name:");
        anyhow::ensure!(without_subject == is_critical, "criticality of the names");
        anyhow::ensure!(made.text.contains("Signature Algorithm: ecdsa-with-SHA"), "{}", made.text);
        let root = match issuer {
            CONSTRAINED => self.administrator.chain(issuer)?,
            _ => self.installation.root_pem(),
        };
        self.bench.verify(pem, &self.administrator.chain(issuer)?, &root)
    }

    fn check_record(&self, pem: &str, record: &Value) -> anyhow::Result<()> {
        let made = reading::certificate(&self.bench, pem)?;
        let shown = text(record, "/subjectDn")?;
        let values = made.subject_values();
        anyhow::ensure!(shown.eq_ignore_ascii_case(&values), "{shown} is not {values}");
        let names = record
            .pointer("/subjectAlternativeNames")
            .and_then(Value::as_array)
            .context("no names")?;
        // Hosts alone look the same here and there; other kinds have tests of their own.
        let names: Vec<_> = names.iter().filter_map(Value::as_str).filter(is_host).collect();
        let made_names: Vec<_> = made.names.iter().map(String::as_str).filter(is_host).collect();
        anyhow::ensure!(names == made_names, "{names:?} are not {made_names:?}");
        let bits = format!("({} bit)", text(record, "/keySize")?);
        let is_edwards = made.text.contains("Public Key Algorithm: ED25519");
        anyhow::ensure!(is_edwards || made.text.contains(&bits), "the key has not {bits}");
        Ok(())
    }
}

/// As the list of known keys wants it: SHA-256 of the SubjectPublicKeyInfo.
fn hash_of_public_key(key: &Path) -> anyhow::Result<String> {
    let public = key.with_extension("der");
    let mut openssl = Command::new("openssl");
    openssl.args(["pkey", "-pubout", "-outform", "DER", "-in"]).arg(key).arg("-out").arg(&public);
    run(&mut openssl)?;
    let hash = run(Command::new("openssl").args(["dgst", "-sha256", "-r"]).arg(public))?;
    Ok(hash.split(' ').next().context("no hash")?.to_owned())
}

/// The text at this place of a JSON value.
pub(crate) fn text<'a>(json: &'a Value, place: &str) -> anyhow::Result<&'a str> {
    let found = json.pointer(place).and_then(Value::as_str);
    found.with_context(|| format!("no {place} in {json}"))
}

fn is_host(name: &&str) -> bool {
    name.starts_with("DNS:")
}
