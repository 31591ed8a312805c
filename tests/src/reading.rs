//! What OpenSSL reads in a request and in the certificate that came of it, and how they compare.

use std::process::Command;

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::openssl::{Workbench, run};

/// One request or certificate as OpenSSL reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// RFC 2253 with the string type in front of each value.
    pub subject: String,
    /// PEM.
    pub key: String,
    /// The alternative names, in order.
    pub names: Vec<String>,
    /// All that `-text` says.
    pub text: String,
}

/// Reads what a person or tool sent, whatever wraps it.
///
/// # Errors
///
/// It is no request, or none that OpenSSL reads.
pub fn request(bench: &Workbench, sent: &[u8]) -> anyhow::Result<Reading> {
    read(bench, "req", &plain(sent)?)
}

/// Reads a certificate.
///
/// # Errors
///
/// OpenSSL does not read it.
pub fn certificate(bench: &Workbench, pem: &str) -> anyhow::Result<Reading> {
    read(bench, "x509", pem)
}

fn read(bench: &Workbench, command: &str, pem: &str) -> anyhow::Result<Reading> {
    let path = bench.write("read.pem", pem.as_bytes())?;
    let options = "RFC2253,-esc_msb,utf8,sep_comma_plus_space,show_type";
    let mut openssl = Command::new("openssl");
    openssl.args([command, "-noout", "-text", "-subject", "-pubkey", "-nameopt", options, "-in"]);
    let text = run(openssl.arg(path))?;
    let subject = text.lines().find_map(|line| line.strip_prefix("subject="));
    let (_, key) = text.split_once("-----BEGIN PUBLIC KEY-----").context("no key")?;
    let (key, _) = key.split_once("-----END PUBLIC KEY-----").context("no end of the key")?;
    Ok(Reading {
        subject: subject.context("no subject")?.replace(" + ", "+"),
        key: key.trim().to_owned(),
        names: extension(&text, "X509v3 Subject Alternative Name:"),
        text,
    })
}

impl Reading {
    /// The key's SubjectPublicKeyInfo.
    ///
    /// # Errors
    ///
    /// None where OpenSSL wrote the PEM.
    pub fn key_der(&self) -> anyhow::Result<Vec<u8>> {
        Ok(STANDARD.decode(self.key.split_whitespace().collect::<String>())?)
    }

    /// The values of an extension that `-text` shows on one line.
    #[must_use]
    pub fn extension(&self, title: &str) -> Vec<String> {
        extension(&self.text, title)
    }

    /// Whether the extension of this title is critical.
    #[must_use]
    pub fn is_critical(&self, title: &str) -> bool {
        let mut lines = self.text.lines().map(str::trim);
        lines.any(|line| line.strip_prefix(title).is_some_and(|rest| rest.trim() == "critical"))
    }

    /// The names, each once: the same host in another case is the same name.
    #[must_use]
    pub fn different_names(&self) -> Vec<&str> {
        let mut different: Vec<&str> = Vec::new();
        for name in &self.names {
            if !different.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                different.push(name);
            }
        }
        different
    }

    /// The subject without the string types.
    #[must_use]
    pub fn subject_values(&self) -> String {
        const TYPES: [&str; 5] =
            ["=UTF8STRING:", "=PRINTABLESTRING:", "=IA5STRING:", "=BMPSTRING:", "=T61STRING:"];
        TYPES.iter().fold(self.subject.clone(), |text, kind| text.replace(kind, "="))
    }
}

fn extension(text: &str, title: &str) -> Vec<String> {
    let mut lines = text.lines().map(str::trim);
    let found = lines.find(|line| line.starts_with(title)).and_then(|_| lines.next());
    found.map_or(Vec::new(), |line| line.split(", ").map(str::to_owned).collect())
}

/// The request in the one form that OpenSSL takes: its base64 in armour of 64 columns.
fn plain(sent: &[u8]) -> anyhow::Result<String> {
    let digits = STANDARD.encode(der(sent)?);
    let lines: Vec<_> = digits.as_bytes().chunks(64).map(String::from_utf8_lossy).collect();
    let (begin, end) = ("-----BEGIN CERTIFICATE REQUEST-----", "-----END CERTIFICATE REQUEST-----");
    Ok(format!("{begin}\n{}\n{end}\n", lines.join("\n")))
}

/// The request's own bytes, whatever wraps them.
///
/// # Errors
///
/// There is no base64 in it.
pub fn der(sent: &[u8]) -> anyhow::Result<Vec<u8>> {
    let text = match sent.iter().position(|byte| *byte == 0) {
        Some(_) => String::from_utf8(sent.iter().copied().filter(|byte| *byte != 0).collect())?,
        None => String::from_utf8(sent.to_vec())?,
    };
    let body = match text.split_once("REQUEST-----") {
        Some((_, rest)) => rest.split("-----").next().unwrap_or_default(),
        None => &text,
    };
    let digits: String = body.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect();
    Ok(STANDARD.decode(digits)?)
}
