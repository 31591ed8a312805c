//! A DN request that is cut off: its private key lived in the API's memory alone.

use anyhow::Context as _;
use chancery_tests::ISSUER;
use serde_json::{Value, json};

use crate::places::Place;
use crate::scene::Scene;

/// From the signature on, in the order of the steps.
pub(crate) const DN_REQUEST: &[Place] = &[
    Place { name: "signer: signed" },
    Place { name: "api: signed" },
    Place { name: "api: records" },
    Place { name: "api: recorded" },
];

/// The row of the table that each place comes to.
pub(crate) fn kill_at_each(scene: &mut Scene) -> anyhow::Result<Vec<String>> {
    let mut answers = Vec::new();
    for (number, place) in DN_REQUEST.iter().enumerate() {
        let body = json!({
            "caName": ISSUER, "dn": dn(number), "csrGeneratorName": "ECDSA P-256",
            "p12Password": "open sesame",
        });
        let ask = move |client: &chancery_tests::Client| client.post("/api/certs/request", &body);
        answers.push(scene.kill_while(place, ask)?);
    }
    let records = scene.installation.check_invariants()?;
    let client = scene.installation.administrator();
    let rows = DN_REQUEST.iter().zip(answers).enumerate().map(|(number, (place, answer))| {
        let record = records.iter().find(|record| record["subjectDn"] == dn(number));
        let record = record.context("no record")?;
        let id = record["id"].as_str().context("no id")?;
        let download = client.get(&format!("/api/certs/{id}/p12"))?.status;
        Ok(format!("| {} | {answer} | {} |", place.name, key_of(record, download)))
    });
    rows.collect()
}

fn dn(number: usize) -> String {
    format!("CN=dn-{number}.example.test")
}

fn key_of(record: &Value, download: u16) -> &'static str {
    let entries: Vec<_> = record["history"].as_array().into_iter().flatten().collect();
    let says = entries.iter().any(|entry| {
        let details = entry["details"].as_str().unwrap_or_default();
        entry["event"] == "recovered" && details.contains("its private key is lost")
    });
    match (record["hasKeyData"].as_bool(), download, says) {
        (Some(false), 410, true) => "lost; `recovered` says so",
        (Some(true), 200, false) => "kept",
        _ => "neither lost nor kept",
    }
}
