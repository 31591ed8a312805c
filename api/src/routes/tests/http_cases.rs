//! The hard cases of `tests/cases/http`: bodies, paths and declarations as clients and attackers send
//! them, each with what it comes to. None is a fault of the service.

use std::fmt::Write as _;
use std::path::Path;

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use super::certs::CSR;
use crate::echo::cut;
use crate::testing::{Answer, Api, api_with_issuer};

/// What an answer was: status and code, and of a fault the first field.
fn told(answer: &Answer) -> String {
    if answer.status == 200 {
        return "200".to_owned();
    }
    let (status, code) = answer.refusal();
    assert!((400..500).contains(&status) && !code.is_empty(), "{}", answer.text);
    let message = answer.json()["message"].as_str().unwrap().to_owned();
    format!("{status} {code}: {}", cut(&message))
}

fn filled(text: &str, csr: &str) -> String {
    let csr = csr.replace('\n', "\\n");
    let text = text.replace("@ISSUER@", "Chancery Issuer").replace("@TEAM@", "Default");
    let text = text.replace("@DELETED_ISSUER@", DELETED);
    text.replace("@CSR@", &csr).replace("@GENERATOR@", "ECDSA P-256")
}

/// Sends every variant of a case.
async fn run(api: &Api, case: &Value) -> Vec<String> {
    let (member, csr) = (api.member(), CSR);
    let mut told_of_each = Vec::new();
    let path = case["path"].as_str().unwrap_or_default();
    let mut bodies = Vec::new();
    bodies.extend(case["raw_body"].as_str().map(str::to_owned));
    bodies.extend(
        case["raw_bodies"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|raw| raw.as_str().unwrap().to_owned()),
    );
    bodies.extend(case["variants"].as_array().into_iter().flatten().map(Value::to_string));
    bodies.extend(case["body"].is_object().then(|| case["body"].to_string()));
    if case["generated"] == "\"[\" * 100000" {
        bodies.push("[".repeat(100_000));
    }
    for body in bodies {
        told_of_each.push(told(&member.post_text(path, filled(&body, csr)).await));
    }
    for kind in case["content_types"].as_array().into_iter().flatten() {
        let request = member.request(Method::POST, path);
        let request = request.header(header::CONTENT_TYPE, kind.as_str().unwrap());
        let body = filled(r#"{"caName":"@ISSUER@","csr":"@CSR@"}"#, csr);
        told_of_each.push(told(&member.send(request.body(Body::from(body)).unwrap()).await));
    }
    for path in case["paths"].as_array().into_iter().flatten() {
        told_of_each.push(told(&member.get(path.as_str().unwrap()).await));
    }
    told_of_each
}

const DELETED: &str = "Deleted Issuer";

/// An issuer that was there and is deleted.
async fn delete_an_issuer(api: &Api) {
    let admin = api.administrator();
    let body = json!({
        "caName": DELETED, "localCaName": "Chancery Issuing CA",
        "certProfileName": "TLS Server and Client",
    });
    let made = admin.post("/api/admin/ca", &body).await.json();
    let path = format!("/api/admin/ca/{}", made["id"].as_str().unwrap());
    assert_eq!(admin.delete(&path).await.status, 200);
}

#[tokio::test]
async fn an_issuer_that_is_not_there_is_named_as_the_field_at_fault_and_never_issues() {
    let api = api_with_issuer().await;
    delete_an_issuer(&api).await;
    let before = api.administrator().get("/api/certs").await.json();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases/http/http-010.json");
    let case: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    for variant in case["variants"].as_array().unwrap() {
        let body = filled(&variant.to_string(), CSR);

        let answer = api.member().post_text("/api/certs/requestp10", body).await;

        assert!([400, 422].contains(&answer.status.as_u16()), "{variant}: {}", answer.text);
        assert_eq!(answer.json()["fields"][0]["field"], "caName", "{variant}");
    }
    assert_eq!(api.administrator().get("/api/certs").await.json(), before);
}

#[tokio::test]
async fn every_collected_message_comes_to_what_is_written_down() {
    let api = api_with_issuer().await;
    delete_an_issuer(&api).await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let files = std::fs::read_dir(folder.join("http")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut found = String::new();
    for file in files {
        let case = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let id = file.file_stem().unwrap().to_str().unwrap();
        for (number, outcome) in run(&api, &case).await.into_iter().enumerate() {
            writeln!(found, "{id} {}\t{outcome}", number + 1).unwrap();
        }
    }

    let written = std::fs::read_to_string(folder.join("http-outcomes.txt")).unwrap_or_default();
    assert!(found == written, "found:\n{found}");
}

#[tokio::test]
async fn a_method_that_a_path_does_not_offer_does_nothing() {
    let api = api_with_issuer().await;
    let paths = [
        "/api/certs",
        "/api/certs/",
        "/api//certs",
        "/api/certs/request",
        "/api/admin/users",
        "/api/login",
        "/api/admin/localca",
        "/api/currentuser",
    ];
    for persona in [api.anonymous(), api.member(), api.administrator()] {
        for path in paths {
            for method in ["PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "DELETE", "FOO"] {
                let method = Method::from_bytes(method.as_bytes()).unwrap();
                let request = persona.request(method.clone(), path);
                let request = request.header("x-http-method-override", "DELETE");
                let answer = persona.send(request.body(Body::empty()).unwrap()).await;
                let status = answer.status.as_u16();
                let is_head = method == Method::HEAD;
                assert!(
                    [401, 403, 404, 405].contains(&status) || (is_head && status == 200),
                    "{method} {path}: {status}"
                );
            }
        }
    }
    let certs = api.administrator().get("/api/certs").await.json();
    assert_eq!(certs.as_array().unwrap().len(), 2, "both CAs are there");
}

#[tokio::test]
async fn a_text_with_a_nul_names_nothing_on_either_engine() {
    for (engine, store) in crate::store::testing::both().await {
        let api = crate::testing::api_on(store, |_| ()).await;
        let login = serde_json::json!({"username": "a\0b", "password": "x"});

        let in_body = api.anonymous().post("/api/login", &login).await;
        let in_path = api.member().get("/api/admin/ca/chainbyname/a%00b").await;

        assert_eq!(in_body.refusal(), (400, "malformed_request".to_owned()), "{engine}");
        assert_eq!(in_path.refusal(), (404, "not_found".to_owned()), "{engine}");
    }
}
