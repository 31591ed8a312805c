//! `POST /certs/request`.

use std::sync::Arc;
use std::thread::ThreadId;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{ISSUER, fields, last, path, records};
use crate::app::{App, AppState};
use crate::random::{Random, SystemRandom};
use crate::testing::{Answer, Persona, api_with_issuer};

const PATH: &str = "/api/certs/request";

/// The least that a request needs.
fn body() -> Value {
    json!({
        "caName": ISSUER, "dn": "CN=www.example.test,O=Example",
        "csrGeneratorName": "ECDSA P-256", "p12Password": "open sesame",
    })
}

/// The same with these fields added or put in place of others.
fn with(changes: Value) -> Value {
    let mut body = body();
    let Value::Object(changes) = changes else { panic!("{changes} is no object") };
    body.as_object_mut().unwrap().extend(changes);
    body
}

async fn request(persona: &Persona, body: &Value) -> Answer {
    persona.post(PATH, body).await
}

/// Gives random bytes to one thread, and fails where packages are made.
struct OnlyOn(ThreadId);

impl Random for OnlyOn {
    fn fill(&self, bytes: &mut [u8]) {
        assert_eq!(std::thread::current().id(), self.0, "a package fails here, as it is to");
        SystemRandom.fill(bytes);
    }
}

#[tokio::test]
async fn a_key_that_is_lost_after_the_signature_leaves_a_record_that_says_so() {
    let mut api = api_with_issuer().await;
    let random = Arc::new(OnlyOn(std::thread::current().id()));
    api.state = AppState::new(App { random, ..App::clone(&api.state) });

    let answer = request(&api.member(), &body()).await;

    assert_eq!(answer.refusal(), (500, "key_lost".to_owned()), "{}", answer.text);
    let told = answer.json();
    let record =
        api.member().get(&format!("/api/certs/{}", told["certId"].as_str().unwrap())).await.json();
    assert_eq!(record["subjectDn"], "CN=www.example.test, O=Example");
    assert_eq!(record["hasKeyData"], false);
    let details = "User member created the certificate; CSR Generator ECDSA P-256 made the key; its \
                   private key was lost before it could be packed";
    assert_eq!(last(&record), ("created".to_owned(), details.to_owned()));
    assert!(told["message"].as_str().unwrap().contains("ask for a new certificate"), "{told}");
}

#[tokio::test]
async fn the_profile_of_the_package_is_the_one_that_was_asked_for() {
    /// pbeWithSHAAnd3-KeyTripleDES-CBC and PBES2.
    const TRIPLE_DES: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x0c, 0x01, 0x03];
    const PBES2: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d];
    let api = api_with_issuer().await;
    for (asked, inside, other) in [
        (json!({}), PBES2, TRIPLE_DES),
        (json!({"p12Profile": "modern"}), PBES2, TRIPLE_DES),
        (json!({"p12Profile": "compatible"}), TRIPLE_DES, PBES2),
    ] {
        let issued = request(&api.member(), &with(asked.clone())).await.json();
        let p12 = STANDARD.decode(issued["p12Data"].as_str().unwrap()).unwrap();
        let holds = |part: &[u8]| p12.windows(part.len()).any(|window| window == part);
        assert!(holds(inside) && !holds(other), "{asked}");
    }
}

#[tokio::test]
async fn a_dn_becomes_a_certificate_its_key_and_a_record() {
    let api = api_with_issuer().await;
    let names = json!(["DNS:www.example.test", "IP:192.0.2.9"]);
    let more = json!({
        "subjectAltNames": names, "extraInfo": "rack 12", "extraEmails": ["ops@example.test"],
    });

    let answer = request(&api.member(), &with(more)).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_eq!(answer.headers["cache-control"], "no-store");
    let issued = answer.json();
    let found: Vec<_> = issued.as_object().unwrap().keys().cloned().collect();
    assert_eq!(found, ["certId", "id", "p12Data", "pemCert"]);
    assert_eq!(issued["certId"], issued["id"]);
    let p12 = STANDARD.decode(issued["p12Data"].as_str().unwrap()).unwrap();
    assert_eq!(p12.first(), Some(&0x30));
    let record = api.member().get(&path(&issued)).await.json();
    assert_eq!(record["pemCert"], issued["pemCert"]);
    assert_eq!(record["subjectDn"], "CN=www.example.test, O=Example");
    assert_eq!(record["subjectAlternativeNames"], names);
    assert_eq!(record["keySize"], "256");
    assert_eq!(record["extraDetails"], "rack 12");
    assert_eq!(record["extraEmails"], json!(["ops@example.test"]));
    assert_eq!(record["history"][0]["event"], "created");
    assert_eq!(
        record["history"][0]["details"],
        "User member created the certificate; CSR Generator ECDSA P-256 made the key"
    );
    let csr = api.member().get(&format!("{}/csr", path(&issued))).await;
    assert!(csr.text.starts_with("-----BEGIN CERTIFICATE REQUEST-----"), "{}", csr.text);
}

#[tokio::test]
async fn every_generator_makes_a_key_of_its_kind_named_by_name_or_id() {
    let api = api_with_issuer().await;
    for generator in api.state.store.csr_generators().await.unwrap() {
        for field in ["csrGeneratorName", "csrGeneratorId"] {
            let (name, id) = (generator.name.clone(), generator.id.to_string());
            if name == "RSA 4096" || name == "RSA 3072" && field == "csrGeneratorId" {
                continue;
            }
            let value = if field == "csrGeneratorId" { &id } else { &name };
            let mut body = with(json!({"csrGeneratorName": null}));
            body[field] = json!(value);

            let answer = request(&api.member(), &body).await;

            assert_eq!(answer.status, 200, "{name}: {}", answer.text);
            let record = api.member().get(&path(&answer.json())).await.json();
            let shown = format!("{} {}", record["keySize"], record["eccCurve"]);
            let expected = match name.as_str() {
                "RSA 2048" => "\"2048\" null",
                "RSA 3072" => "\"3072\" null",
                "ECDSA P-256" => "\"256\" \"P-256\"",
                "ECDSA P-384" => "\"384\" \"P-384\"",
                "ECDSA P-521" => "\"521\" \"P-521\"",
                _ => "\"256\" \"Ed25519\"",
            };
            assert_eq!(shown, expected, "{name}");
        }
    }
}

#[tokio::test]
async fn the_cn_becomes_a_name_where_the_request_asks_for_it() {
    let api = api_with_issuer().await;
    for (dn, names) in [
        ("CN=www.example.test", json!(["DNS:www.example.test"])),
        ("CN=192.0.2.7", json!(["IP:192.0.2.7"])),
        ("CN=*.example.test", json!(["DNS:*.example.test"])),
        ("CN=münchen.example.test", json!(["DNS:xn--mnchen-3ya.example.test"])),
    ] {
        let body = with(json!({"dn": dn, "addCnAsDnsSan": true}));
        let answer = request(&api.member(), &body).await;
        assert_eq!(answer.status, 200, "{dn}: {}", answer.text);
        let record = api.member().get(&path(&answer.json())).await.json();
        assert_eq!(record["subjectAlternativeNames"], names, "{dn}");
    }
    for dn in ["CN=Anna Muster", "O=Example"] {
        let body = with(json!({"dn": dn, "addCnAsDnsSan": true}));
        let answer = request(&api.member(), &body).await;
        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{dn}");
        assert_eq!(fields(&answer), ["addCnAsDnsSan"], "{dn}");
    }
}

#[tokio::test]
async fn each_bad_field_is_named_and_neither_key_nor_certificate_is_made() {
    let api = api_with_issuer().await;
    let before = records(&api).await;
    let invalid = (400, "invalid_request");
    for (changes, (status, code), field) in [
        (json!({"dn": null}), (400, "bad_dn"), "dn"),
        (json!({"dn": "  "}), (400, "bad_dn"), "dn"),
        (json!({"dn": "www.example.test"}), (400, "bad_dn"), "dn"),
        (json!({"dn": "FOO=x"}), (400, "bad_dn"), "dn"),
        (json!({"dn": 4}), invalid, "dn"),
        (json!({"subjectAltNames": ["www"]}), (400, "bad_subject_alt_name"), "subjectAltNames"),
        (json!({"extraInfo": "x".repeat(4097)}), invalid, "extraInfo"),
        (json!({"extraEmails": ["x"]}), invalid, "extraEmails"),
        (json!({"csrGeneratorName": ""}), invalid, "csrGeneratorName"),
        (json!({"csrGeneratorName": "RSA 512"}), (422, "unknown_generator"), "csrGeneratorName"),
        (json!({"csrGeneratorId": "x"}), (422, "unknown_generator"), "csrGeneratorId"),
        (json!({"p12Password": null}), invalid, "p12Password"),
        (json!({"p12Password": ""}), invalid, "p12Password"),
        (json!({"p12Password": "sécret"}), invalid, "p12Password"),
        (json!({"p12Password": "a\tb"}), invalid, "p12Password"),
        (json!({"p12Password": "x".repeat(1025)}), invalid, "p12Password"),
        (json!({"p12Password": 12_345}), invalid, "p12Password"),
        (json!({"p12Password": ["secret"]}), invalid, "p12Password"),
        (json!({"p12Profile": "newest"}), invalid, "p12Profile"),
        (json!({"addCnAsDnsSan": "yes"}), invalid, "addCnAsDnsSan"),
        (json!({"csr": "x"}), invalid, "csr"),
        (json!({"reverseCsrDn": true}), invalid, "reverseCsrDn"),
        (json!({"id": "x"}), invalid, "id"),
        (json!({"password": "secret"}), invalid, "password"),
    ] {
        let answer = request(&api.member(), &with(changes.clone())).await;
        assert_eq!(answer.refusal(), (status, code.to_owned()), "{changes}: {}", answer.text);
        assert_eq!(fields(&answer), [field], "{changes}");
        for secret in ["secret", "sécret", "12345"] {
            assert!(!answer.text.contains(secret), "{}", answer.text);
        }
    }
    assert_eq!(records(&api).await, before);
}

#[tokio::test]
async fn fields_of_the_other_call_pass_while_they_are_empty() {
    let api = api_with_issuer().await;
    let empty = json!({
        "csr": "", "reverseCsrDn": false, "id": null, "issuerName": [""], "issuerId": [null],
        "teamName": "", "teamId": null, "subjectAltNames": [""], "extraInfo": "",
        "extraEmails": [], "addCnAsDnsSan": "", "p12Profile": null, "csrGeneratorId": [],
    });

    let answer = request(&api.member(), &with(empty)).await;

    assert_eq!(answer.status, 200, "{}", answer.text);
}

#[tokio::test]
async fn an_issuer_that_takes_no_dn_or_not_this_generator_says_so() {
    let api = api_with_issuer().await;
    for (name, field, value) in [
        ("CSR alone", "allowDnRequests", json!(false)),
        ("RSA alone", "allowedGenerators", json!(["RSA 2048"])),
    ] {
        let mut issuer = json!({
            "caName": name, "localCaName": "Chancery Issuing CA",
            "certProfileName": "TLS Server and Client",
        });
        issuer[field] = value;
        assert_eq!(api.administrator().post("/api/admin/ca", &issuer).await.status, 200);

        let answer = request(&api.member(), &with(json!({"caName": name}))).await;

        assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()), "{name}");
        assert!(answer.json()["message"].as_str().unwrap().contains(field), "{}", answer.text);
    }
}

#[tokio::test]
async fn a_preview_is_the_record_that_the_request_gets_and_asks_nobody() {
    let api = api_with_issuer().await;
    let member = api.member();
    let preview_path = format!("{PATH}?preview=true");
    for generator in ["RSA 2048", "ECDSA P-384", "ECDSA P-521", "Ed25519"] {
        let body = with(json!({
            "csrGeneratorName": generator, "addCnAsDnsSan": true,
            "subjectAltNames": ["ip:2001:DB8::1", "DNS:a.example.test", "dns:A.example.test"],
        }));
        let before = records(&api).await;

        let preview = member.post(&preview_path, &body).await;
        assert_eq!(preview.status, 200, "{}", preview.text);
        assert_eq!(records(&api).await, before);

        let issued = request(&member, &body).await.json();
        let mut record = member.get(&path(&issued)).await.json();
        for field in ["id", "csrId", "pemCert", "serialNumber", "thumbprint"] {
            record[field] = Value::Null;
        }
        assert_eq!(preview.json()["certificate"], record, "{generator}");
        let account = &preview.json()["account"];
        let rules: Vec<_> = account
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["rule"].as_str().unwrap())
            .collect();
        let expected =
            ["dn", "dn", "subjectAltNames", "subjectAltNames", "duplicates", "addCnAsDnsSan"];
        assert_eq!(rules, expected, "{account}");
    }
}
