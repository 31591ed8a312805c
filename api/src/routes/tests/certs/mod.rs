//! `/certs`.

mod change;
mod data_keys;
mod delete;
mod dn;
mod dn_cases;
mod download;
mod faults;
pub(super) mod import;
mod import_refused;
mod imported;
mod issuer;
mod kept;
mod list;
mod preview;
mod record;
mod refused;
mod search;
mod taken_away;

pub(super) use self::import::FOREIGN;

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::testing::{Answer, Api, Persona};

/// A request for `CN=pem-001.example.test` with that name as DNS name.
pub(super) const CSR: &str = include_str!("../../../../../tests/cases/pem/pem-001.pem");

pub(super) const ISSUER: &str = "Chancery Issuer";

/// The least that a request needs.
fn body() -> Value {
    json!({"caName": ISSUER, "csr": CSR})
}

/// The same with these fields added or put in place of others.
fn with(changes: Value) -> Value {
    let mut body = body();
    let Value::Object(changes) = changes else { panic!("{changes} is no object") };
    body.as_object_mut().unwrap().extend(changes);
    body
}

async fn request(persona: &Persona, body: &Value) -> Answer {
    persona.post("/api/certs/requestp10", body).await
}

/// The record of a certificate that `persona` has asked for now.
async fn issued(persona: &Persona) -> Value {
    let answer = request(persona, &body()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let id = answer.json()["id"].as_str().unwrap().to_owned();
    persona.get(&format!("/api/certs/{id}")).await.json()
}

/// A collected CSR, and what the reader of requests makes of it.
struct Collected {
    id: String,
    /// `issue` or `reject`.
    outcome: String,
    /// What was understood, or why it is refused.
    said: String,
    csr: String,
}

fn collected() -> Vec<Collected> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let outcomes = std::fs::read_to_string(folder.join("csr-outcomes.txt")).unwrap();
    let read = |line: &str| {
        let parts: Vec<_> = line.splitn(3, '\t').map(str::to_owned).collect();
        let [id, outcome, said] = parts.try_into().unwrap();
        let (area, _) = id.split_once('-').unwrap();
        let mut files =
            std::fs::read_dir(folder.join(area)).unwrap().map(|file| file.unwrap().path());
        let file = files.find(|file| file.file_stem().unwrap() == id.as_str()).unwrap();
        let bytes = std::fs::read(file).unwrap();
        // An upload that is no text comes as base64.
        let csr = String::from_utf8(bytes).unwrap_or_else(|no| STANDARD.encode(no.as_bytes()));
        let csr = csr.replace('\0', "");
        Collected { id, outcome, said, csr }
    };
    outcomes.lines().map(read).collect()
}

/// The path of a record.
fn path(record: &Value) -> String {
    format!("/api/certs/{}", record["id"].as_str().unwrap())
}

/// The last entry of a record's history: event and details.
fn last(record: &Value) -> (String, String) {
    let entry = record["history"].as_array().unwrap().last().unwrap();
    let text = |field: &str| entry[field].as_str().unwrap().to_owned();
    (text("event"), text("details"))
}

/// Ids of all records, oldest first.
async fn records(api: &Api) -> Vec<String> {
    let all = api.member().get("/api/certs").await.json();
    let id = |record: &Value| record["id"].as_str().unwrap().to_owned();
    all.as_array().unwrap().iter().map(id).collect()
}

/// The fields that an error names.
fn fields(answer: &Answer) -> Vec<String> {
    let fields = answer.json()["fields"].as_array().cloned().unwrap_or_default();
    fields.iter().map(|field| field["field"].as_str().unwrap().to_owned()).collect()
}
