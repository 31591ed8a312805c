//! The hard cases of `tests/cases` that are bodies of DN requests: passwords (`p12`), names as people
//! type them (`ds`), alternative names (`sanj`).

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::{ISSUER, path, records};
use crate::echo::cut;
use crate::testing::{Api, api_with_issuer};

/// The bodies of a file, each a JSON text.
fn bodies(case: &Value) -> Vec<String> {
    let texts = match (&case["raw_body"], &case["variants"]) {
        (Value::String(raw), _) => vec![raw.clone()],
        (_, Value::Array(variants)) => variants.iter().map(Value::to_string).collect(),
        _ => vec![case["body"].to_string()],
    };
    let filled = |text: String| {
        let text = text.replace("@ISSUER@", ISSUER).replace("@TEAM@", "Default");
        text.replace("@GENERATOR@", "ECDSA P-256")
    };
    texts.into_iter().map(filled).collect()
}

/// What a body came to: subject and names, or why not.
async fn outcome(api: &Api, body: String) -> String {
    let member = api.member();
    let before = records(api).await.len();
    let answer = member.post_text("/api/certs/request", body).await;
    if answer.status != 200 {
        let (status, code) = answer.refusal();
        assert_eq!(records(api).await.len(), before, "{}", answer.text);
        let message = answer.json()["message"].as_str().unwrap().to_owned();
        return format!("reject\t{status} {code}: {message}");
    }
    let record = member.get(&path(&answer.json())).await.json();
    let names = record["subjectAlternativeNames"].as_array().unwrap();
    let names: Vec<_> = names.iter().map(|name| name.as_str().unwrap()).collect();
    let names = match names.len() {
        0..=20 => names.join(", "),
        more => format!("{} and {} more", names[0], more - 1),
    };
    format!("issue\t{} | {names}", cut(record["subjectDn"].as_str().unwrap()))
}

#[tokio::test]
async fn every_collected_request_leads_to_the_outcome_that_is_written_down() {
    let api = api_with_issuer().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let mut found = String::new();
    for area in ["p12", "ds", "sanj"] {
        let files = std::fs::read_dir(folder.join(area)).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        for file in files {
            let case = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
            let id = file.file_stem().unwrap().to_str().unwrap();
            for (number, body) in bodies(&case).into_iter().enumerate() {
                let outcome = outcome(&api, body).await;
                writeln!(found, "{id} {}\t{outcome}", number + 1).unwrap();
            }
        }
    }

    let written = std::fs::read_to_string(folder.join("dn-outcomes.txt")).unwrap_or_default();
    assert!(found == written, "found:\n{found}");
}
