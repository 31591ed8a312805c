//! What must hold whatever was done to a service: nothing signed is unknown, nothing is twice.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::Value;

use crate::Installation;
use crate::issue::ISSUER;
use crate::openssl::{Workbench, run};
use crate::patience;

/// The API takes a signature for lost once no request can be on its way any more.
const RECOVERED_WITHIN: Duration = Duration::from_mins(4);

impl Installation {
    /// Waits until every signature has its record, then looks at all that was signed: no serial
    /// number twice, nothing signed by a key that was out of use, each end-entity certificate good
    /// for OpenSSL, the journal sound, and every intent with its outcome. The result is the records.
    ///
    /// # Errors
    ///
    /// Something of that does not hold.
    pub fn check_invariants(&self) -> anyhow::Result<Vec<Value>> {
        let administrator = self.administrator();
        let signed = self.signed_serial_numbers()?;
        let records = patience::until("a record of each signature", RECOVERED_WITHIN, || {
            let records = administrator.records()?;
            let known: BTreeSet<_> = records.iter().filter_map(serial_number).collect();
            Ok(signed.iter().all(|signed| known.contains(signed)).then_some(records))
        })?;

        let known: BTreeSet<_> = records.iter().filter_map(serial_number).collect();
        ensure!(known.len() == records.len(), "a serial number is recorded twice");
        let journal = self.journal()?;
        let signed = serial_numbers(&journal)?;
        let distinct: BTreeSet<_> = signed.iter().collect();
        ensure!(distinct.len() == signed.len(), "a serial number is signed twice");
        ensure!(
            known.iter().all(|known| distinct.contains(known)),
            "a record has no entry in the journal"
        );
        self.check_certificates(&records)?;
        check_disabled_keys(&journal)?;
        run(&mut self.home().hsm(&["journal", "verify"]))?;
        Ok(records)
    }

    fn check_certificates(&self, records: &[Value]) -> anyhow::Result<()> {
        let bench = Workbench::new()?;
        let chain = bench.write("chain.pem", self.administrator().chain(ISSUER)?.as_bytes())?;
        let root = bench.write("root.pem", self.root_pem().as_bytes())?;
        let ours = records.iter().filter(|record| record["issuerName"] == ISSUER);
        let ours: Vec<_> = ours.collect();
        // A command line has room for so many.
        for some in ours.chunks(1_000) {
            let mut command = std::process::Command::new("openssl");
            command.args(["verify", "-x509_strict", "-CAfile"]).arg(&root);
            command.arg("-untrusted").arg(&chain);
            for (number, record) in some.iter().enumerate() {
                let pem = record["pemCert"].as_str().context("a record without its certificate")?;
                command.arg(bench.write(&format!("{number}.pem"), pem.as_bytes())?);
            }
            run(&mut command)?;
        }
        Ok(())
    }

    /// The journal's entries, oldest first.
    ///
    /// # Errors
    ///
    /// It can't be read.
    pub fn journal(&self) -> anyhow::Result<Vec<Value>> {
        let text = run(&mut self.home().hsm(&["journal", "export"]))?;
        let entries = text.lines().map(serde_json::from_str::<Value>);
        Ok(entries.collect::<Result<_, _>>()?)
    }

    /// The serial numbers of all `signed` entries, in the journal's order.
    ///
    /// # Errors
    ///
    /// The journal can't be read.
    pub fn signed_serial_numbers(&self) -> anyhow::Result<Vec<String>> {
        serial_numbers(&self.journal()?)
    }
}

fn serial_numbers(journal: &[Value]) -> anyhow::Result<Vec<String>> {
    let signed = journal.iter().filter_map(|entry| entry["event"]["signed"].as_object());
    let numbers = signed.map(|signed| signed["serialNumber"].as_str().map(normal));
    numbers.collect::<Option<_>>().context("a signature without a serial number")
}

/// No entry of a signature stands between that of a key's end of use and that of its return.
fn check_disabled_keys(journal: &[Value]) -> anyhow::Result<()> {
    let mut out_of_use = BTreeSet::new();
    for entry in journal {
        let key = |event: &str| entry["event"][event]["keyId"].as_str().map(str::to_owned);
        if let Some(key) = key("key-disabled").or(key("key-destroying")) {
            out_of_use.insert(key);
        } else if let Some(key) = key("key-enabled") {
            out_of_use.remove(&key);
        } else if let Some(key) = key("signed") {
            ensure!(!out_of_use.contains(&key), "signed by a key that is out of use: {entry}");
        }
    }
    Ok(())
}

/// As the journal has it.
fn serial_number(record: &Value) -> Option<String> {
    record["serialNumber"].as_str().map(normal)
}

/// Without the signs that only people want.
fn normal(serial_number: &str) -> String {
    serial_number.replace(':', "").to_ascii_lowercase()
}
