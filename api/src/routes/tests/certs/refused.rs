//! Requests that make no certificate: each is told why, by field, and leaves nothing behind.

use serde_json::{Value, json};

use super::{Collected, body, collected, fields, path, records, request, with};
use crate::testing::api_with_issuer;

#[tokio::test]
async fn each_bad_field_is_named_and_nothing_is_issued() {
    let api = api_with_issuer().await;
    let before = records(&api).await;
    let invalid = (400, "invalid_request");
    for (changes, (status, code), field) in [
        (json!({"csr": null}), (400, "bad_csr"), "csr"),
        (json!({"csr": " \r\n"}), (400, "bad_csr"), "csr"),
        (json!({"csr": "MIIB"}), (400, "bad_csr"), "csr"),
        (json!({"csr": 123}), invalid, "csr"),
        (json!({"csr": ["x"]}), invalid, "csr"),
        (json!({"csr": {"a": 1}}), invalid, "csr"),
        (json!({"csr": true}), invalid, "csr"),
        (json!({"subjectAltNames": ["www"]}), (400, "bad_subject_alt_name"), "subjectAltNames"),
        (json!({"subjectAltNames": ["UPN:x"]}), (400, "bad_subject_alt_name"), "subjectAltNames"),
        (json!({"subjectAltNames": "DNS:a"}), invalid, "subjectAltNames"),
        (json!({"extraInfo": "x".repeat(4097)}), invalid, "extraInfo"),
        (json!({"extraInfo": "\u{7}"}), invalid, "extraInfo"),
        (json!({"extraEmails": ["Anna <anna@example.test>"]}), invalid, "extraEmails"),
        (json!({"extraEmails": vec!["a@example.test"; 21]}), invalid, "extraEmails"),
        (json!({"reverseCsrDn": "yes"}), invalid, "reverseCsrDn"),
        (json!({"id": "x"}), invalid, "id"),
        (json!({"dn": "CN=x"}), invalid, "dn"),
        (json!({"csrGeneratorName": "RSA 2048"}), invalid, "csrGeneratorName"),
        (json!({"csrGeneratorId": "x"}), invalid, "csrGeneratorId"),
        (json!({"p12Password": "secret"}), invalid, "p12Password"),
        (json!({"p12Profile": "modern"}), invalid, "p12Profile"),
        (json!({"addCnAsDnsSan": true}), invalid, "addCnAsDnsSan"),
        (json!({"validityDays": 99999}), invalid, "validityDays"),
    ] {
        let answer = request(&api.member(), &with(changes.clone())).await;
        assert_eq!(answer.refusal(), (status, code.to_owned()), "{changes}: {}", answer.text);
        assert_eq!(fields(&answer), [field], "{changes}");
        assert!(!answer.text.contains("secret"), "{}", answer.text);
    }
    assert_eq!(records(&api).await, before);
}

#[tokio::test]
async fn a_body_that_is_no_object_and_parameters_that_do_not_exist_are_400() {
    let api = api_with_issuer().await;
    for text in ["[]", "\"text\"", "null", "42", "{\"csr\": \"a\\u0000b\"}"] {
        let answer = api.member().post_text("/api/certs/requestp10", text).await;
        assert_eq!(answer.refusal(), (400, "malformed_request".to_owned()), "{text}");
    }
    for (query, field) in [
        ("preview=yes", "preview"),
        ("preview=", "preview"),
        ("preview", "preview"),
        ("preview=TRUE", "preview"),
        ("previw=true", "previw"),
    ] {
        let path = format!("/api/certs/requestp10?{query}");
        let answer = api.member().post(&path, &body()).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{query}");
        assert_eq!(fields(&answer), [field]);
    }
    let answer = api.member().post("/api/certs/requestp10?preview=false", &body()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// What the first profile does not let pass: no name at all.
const NO_NAME: &str = "dn-017";

#[tokio::test]
async fn every_collected_csr_is_issued_or_refused_as_written_down() {
    let api = api_with_issuer().await;
    let member = api.member();
    for Collected { id, outcome, said, csr } in collected() {
        let (id, said) = (id.as_str(), said.as_str());

        let answer = request(&member, &with(json!({"csr": csr}))).await;

        match (outcome.as_str(), id) {
            ("issue", NO_NAME) => {
                assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()), "{id}");
            }
            ("issue", _) => {
                assert_eq!(answer.status, 200, "{id}: {}", answer.text);
                let record = member.get(&path(&answer.json())).await.json();
                assert_eq!(shown(&record), collapsed(said), "{id}");
            }
            _ => {
                let (status, code) = answer.refusal();
                let is_policy = said.starts_with("the key of the csr is not accepted")
                    || said.starts_with("the csr is signed with");
                let malformed = said.contains("not well-formed") || said.contains("not a point");
                let expected = if is_policy && !malformed {
                    (422, "policy_violation")
                } else {
                    (400, "bad_csr")
                };
                assert_eq!((status, code.as_str()), expected, "{id}: {}", answer.text);
                assert_eq!(answer.json()["message"], said, "{id}");
                assert_eq!(fields(&answer), ["csr"], "{id}");
            }
        }
    }
}

/// Subject and names as the file of outcomes has them.
fn shown(record: &Value) -> String {
    let names = record["subjectAlternativeNames"].as_array().unwrap();
    let names = names.iter().map(|name| format!(" | {}", name.as_str().unwrap()));
    format!("{}{}", record["subjectDn"].as_str().unwrap(), names.collect::<String>())
}

/// What the file says that was asked for, each name once.
fn collapsed(said: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in said.split(" | ") {
        if !parts.iter().any(|known| known.eq_ignore_ascii_case(part)) {
            parts.push(part);
        }
    }
    parts.join(" | ")
}
