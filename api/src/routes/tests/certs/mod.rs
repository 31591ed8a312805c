//! `/certs`.

mod faults;
mod issuer;
mod list;
mod record;
mod refused;
mod search;

use serde_json::{Value, json};

use crate::testing::{Answer, Api, Persona};

/// A request for `CN=pem-001.example.test` with that name as DNS name.
const CSR: &str = include_str!("../../../../../tests/cases/pem/pem-001.pem");

const ISSUER: &str = "Chancery Issuer";

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
