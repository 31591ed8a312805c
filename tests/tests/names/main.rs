//! Hundreds of generated names through the whole service: what was asked for, what OpenSSL reads in
//! the certificate, and what the record says are the same, in the same order.

mod alternatives;
mod random;
mod refused;
mod subjects;

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chancery_tests::connection::Connection;
use chancery_tests::forge::der::{context, integer, octets, oid, sequence, set};
use chancery_tests::forge::oids;
use chancery_tests::forge::subject::{SubjectKey, common_name};
use chancery_tests::openssl::{Workbench, run};
use chancery_tests::{Installation, Issued};
use serde_json::json;

use crate::random::Random;

/// How many subjects, and how many sets of alternative names.
const COUNT: usize = 200;

/// Every so many of them are given to pkilint, which takes a second for each.
const LINTED: usize = 16;

/// A service, a connection to it, and a key to ask for.
struct Scene {
    _installation: Installation,
    connection: Connection,
    bench: Workbench,
    key: SubjectKey,
}

impl Scene {
    fn start() -> anyhow::Result<Self> {
        let installation = Installation::start();
        let connection = Connection::of_administrator(&installation)?;
        let (bench, key) = (Workbench::new()?, SubjectKey::generate()?);
        Ok(Self { _installation: installation, connection, bench, key })
    }

    /// A request for this subject and, where there are some, these GeneralNames.
    fn csr(&self, subject: &[u8], names: &[Vec<u8>]) -> anyhow::Result<String> {
        let extension = sequence(&[oid(oids::SUBJECT_ALT_NAME), octets(&sequence(names))]);
        let extensions = set(&[sequence(&[extension])]);
        let attributes = match names {
            [] => Vec::new(),
            _ => vec![sequence(&[oid("1.2.840.113549.1.9.14"), extensions])],
        };
        let parts =
            [integer(&[0]), subject.to_vec(), self.key.spki.clone(), context(0, &attributes)];
        Ok(STANDARD.encode(self.key.request(&sequence(&parts))?))
    }

    /// What OpenSSL says of the subject, in the record's form.
    fn subject(&self, issued: &Issued) -> anyhow::Result<String> {
        let options = "RFC2253,-esc_msb,utf8,sep_comma_plus_space";
        let text = self.openssl(issued, &["-subject", "-nameopt", options])?;
        Ok(in_one_form(text.trim_start_matches("subject=").trim_end_matches('\n')))
    }

    /// What OpenSSL says of the alternative names.
    fn names(&self, issued: &Issued) -> anyhow::Result<String> {
        let text = self.openssl(issued, &["-ext", "subjectAltName"])?;
        Ok(text.lines().nth(1).unwrap_or_default().trim().to_owned())
    }

    fn openssl(&self, issued: &Issued, options: &[&str]) -> anyhow::Result<String> {
        let path = self.bench.write("named.pem", issued.pem.as_bytes())?;
        run(Command::new("openssl").args(["x509", "-noout", "-in"]).arg(path).args(options))
    }
}

/// OpenSSL writes ` + `, `street` and capitals in hexadecimal where the record, after RFC 4514, has
/// `+`, `STREET` and small letters.
fn in_one_form(text: &str) -> String {
    let text = text.replace(" + ", "+").replace("street=", "STREET=");
    let mut parts = text.split(PRIVATE_VALUE);
    let mut form = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
        form.push_str(PRIVATE_VALUE);
        form.push_str(&part[..digits].to_ascii_lowercase());
        form.push_str(&part[digits..]);
    }
    form
}

/// What stands before a value that is shown in hexadecimal.
const PRIVATE_VALUE: &str = "1.3.6.1.4.1.55555.4=#";

#[test]
fn generated_subjects_read_as_they_were_asked_for() -> anyhow::Result<()> {
    let mut scene = Scene::start()?;
    let mut random = Random::new(20);
    let (mut wrong, mut linted) = (Vec::new(), Vec::new());

    for number in 0..COUNT {
        let subject = subjects::subject(&mut random);
        let csr = scene.csr(&subject.der, &[])?;
        let issued = match scene.connection.request(&csr) {
            Ok(issued) => issued,
            Err(error) => {
                wrong.push(format!("{number}: {}: {error:#}", subject.text));
                continue;
            }
        };
        let (read, record) = (scene.subject(&issued)?, scene.connection.record(&issued.id)?);
        if read != subject.text || record["subjectDn"] != *subject.text {
            wrong.push(format!("{number}:\n{}\n{read}\n{}", subject.text, record["subjectDn"]));
        }
        // pkilint takes the DCs of a subject together for a domain with a dot, and wants its mail
        // addresses as alternative names too.
        let is_plain = !["DC=", "emailAddress="].iter().any(|kind| subject.text.contains(kind));
        if number % LINTED == 0 && is_plain {
            linted.push(issued.pem);
        }
    }

    assert!(wrong.is_empty(), "{} of {COUNT}:\n{}", wrong.len(), wrong.join("\n"));
    lint(&scene.bench, &linted)
}

#[test]
fn generated_alternative_names_read_as_they_were_asked_for() -> anyhow::Result<()> {
    let mut scene = Scene::start()?;
    let mut random = Random::new(21);
    let (mut wrong, mut linted) = (Vec::new(), Vec::new());

    for number in 0..COUNT {
        let names = alternatives::names(&mut random);
        let subject = match number % 10 {
            0 => sequence(&[]),
            _ => common_name(&format!("Set {number}")),
        };
        let der: Vec<_> = names.iter().map(|name| name.der.clone()).collect();
        let csr = scene.csr(&subject, &der)?;
        let expected: Vec<_> = names.iter().map(|name| name.openssl.as_str()).collect();
        let issued = match scene.connection.request(&csr) {
            Ok(issued) => issued,
            Err(error) => {
                wrong.push(format!("{number}: {expected:?}: {error:#}"));
                continue;
            }
        };
        let (read, record) = (scene.names(&issued)?, scene.connection.record(&issued.id)?);
        let recorded: Vec<_> = names.iter().map(|name| name.record.as_str()).collect();
        if read != expected.join(", ") || record["subjectAlternativeNames"] != json!(recorded) {
            wrong.push(format!("{number}:\n{expected:?}\n{read}\n{record:#}"));
        }
        // Wildcards and underscores are no preferred names in the eyes of pkilint's PKIX rules.
        let is_preferred = !read.contains("DNS:*.") && !read.contains("DNS:_a.");
        if number % LINTED == 0 && is_preferred {
            linted.push(issued.pem);
        }
    }

    assert!(wrong.is_empty(), "{} of {COUNT}:\n{}", wrong.len(), wrong.join("\n"));
    lint(&scene.bench, &linted)
}

fn lint(bench: &Workbench, certificates: &[String]) -> anyhow::Result<()> {
    assert!(certificates.len() >= 5, "only {} were linted", certificates.len());
    certificates.iter().try_for_each(|pem| bench.lint(pem))
}

#[test]
fn the_second_form_of_a_name_is_the_first() {
    assert_eq!(
        in_one_form("street=A\\+B + 1.3.6.1.4.1.55555.4=#0C0141, O==#C"),
        "STREET=A\\+B+1.3.6.1.4.1.55555.4=#0c0141, O==#C"
    );
}
