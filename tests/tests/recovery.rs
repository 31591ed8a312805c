//! What was signed and not recorded becomes a record.

use std::fs;
use std::time::Duration;

use chancery_tests::Installation;
use chancery_tests::openssl::{Workbench, run};
use serde_json::Value;

#[test]
fn certificates_that_an_older_database_lacks_are_recovered_from_the_journal() -> anyhow::Result<()>
{
    let mut installation = Installation::start();
    let member = installation.member("owner", &["Default"]);
    let bench = Workbench::new()?;
    let csr = bench.fresh_request("/CN=lost.example.test", "DNS:lost.example.test")?;
    installation.stop();
    let data = installation.home().path().join("data");
    let older = installation.home().path().join("older");
    run(std::process::Command::new("cp").arg("--archive").arg(&data).arg(&older))?;
    installation.start_again();
    let issued = member.request_with(&serde_json::json!({
        "caName": "Chancery Issuer", "csr": csr, "extraInfo": "kept in the journal",
        "extraEmails": ["one@example.test"],
    }))?;
    installation.stop();
    fs::remove_dir_all(&data)?;
    fs::rename(&older, &data)?;

    installation.start_again();

    // The API waits until no request can still be on its way before it takes one for lost.
    let administrator = installation.administrator();
    let recovered = |_: &str| {
        let records = administrator.records().ok()?;
        records.into_iter().find(|record| record["pemCert"] == *issued.pem)
    };
    let output = installation.api().output();
    let record = output.wait_for("the record", Duration::from_mins(3), recovered)?;
    assert_eq!(record["ownerUsername"], "owner");
    assert_eq!(record["extraDetails"], "kept in the journal");
    assert_eq!(record["extraEmails"], serde_json::json!(["one@example.test"]));
    let events = record["history"].as_array().into_iter().flatten();
    let events: Vec<_> = events.filter_map(|entry| entry["event"].as_str()).collect();
    assert_eq!(events, ["created", "recovered"]);
    let said = record["history"][0]["details"].as_str().unwrap_or_default();
    assert_eq!(said, "User owner created the certificate; a CSR was provided");
    assert!(record["csrId"].is_string(), "{:?}", record["csrId"]);
    assert_eq!(record["hasKeyData"], Value::Bool(false));
    Ok(())
}
