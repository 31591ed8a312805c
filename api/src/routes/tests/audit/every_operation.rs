//! Told from the OpenAPI document, so that no operation is forgotten.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use super::super::certs::{CSR, FOREIGN, ISSUER};
use super::audit;
use crate::testing::{Answer, Api, PASSWORD, Persona, api, api_with_issuer};

/// Have a body, and change nothing.
const READING: &[(&str, &str)] = &[("post", "/api/certs/search")];

/// Change something or give a secret away, and have no body.
const TELLING: &[(&str, &str)] = &[
    ("get", "/api/logouthere"),
    ("get", "/api/certs/{id}/p12"),
    ("get", "/api/certs/{id}/jks"),
    ("get", "/api/certs/{id}/pem"),
];

/// Every operation of the document that changes something.
async fn changing(api: &Api) -> BTreeSet<(String, String)> {
    let document = api.anonymous().get("/api/openapi.json").await.json();
    let mut operations = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let operation = (method.as_str(), path.as_str());
            let reads = method == "get" || READING.contains(&operation);
            if !reads || TELLING.contains(&operation) {
                operations.insert((method.clone(), path.clone()));
            }
        }
    }
    operations
}

async fn send(persona: &Persona, method: &str, path: &str, id: &str, body: &Value) -> Answer {
    let method: Method = method.to_uppercase().parse().unwrap();
    let request = persona.request(method, path).header("X-Request-Id", id);
    let request = request.header(header::CONTENT_TYPE, "application/json");
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    persona.send(request.body(body).unwrap()).await
}

/// Calls, each of which must succeed and leave its entry.
struct Calls<'a> {
    api: &'a Api,
    done: BTreeSet<(String, String)>,
}

impl Calls<'_> {
    async fn call(
        &mut self,
        persona: (&str, &Persona),
        (method, template): (&str, &str),
        id: &str,
        body: Value,
        told: (&str, &str),
    ) -> Value {
        let request_id = format!("call-{}", self.done.len());
        let path = template.replace("{id}", id);
        let answer = send(persona.1, method, &path, &request_id, &body).await;
        assert_eq!(answer.status, 200, "{method} {path}: {}", answer.text);
        let entries = audit(self.api, &format!("requestId={request_id}")).await;
        assert!(!entries.is_empty(), "{method} {path} left nothing");
        for entry in &entries {
            assert_eq!(entry["username"], persona.0, "{method} {path}: {entry}");
            assert_eq!(entry["result"], "ok", "{method} {path}: {entry}");
        }
        let words = |entry: &Value| (entry["action"] == told.0) && (entry["objectKind"] == told.1);
        assert!(entries.iter().any(words), "{method} {path}: {entries:?}");
        self.done.insert((method.to_owned(), template.to_owned()));
        serde_json::from_str(&answer.text).unwrap_or_default()
    }
}

fn id(item: &Value) -> String {
    item["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_operation_that_changes_something_leaves_an_entry() {
    let api = api_with_issuer().await;
    let (admin, member) = (api.administrator(), api.member());
    let (admin, member, nobody) = (("admin", &admin), ("member", &member), api.anonymous());
    let mut calls = Calls { api: &api, done: BTreeSet::new() };

    let login = json!({"username": "member", "password": PASSWORD});
    let path = ("post", "/api/login");
    let token = calls.call(("member", &nobody), path, "", login.clone(), ("login", "users")).await;
    let session = api.with_token(Some(token["token"].as_str().unwrap().to_owned()));
    let path = ("post", "/api/logout");
    calls.call(("member", &session), path, "", Value::Null, ("logout", "users")).await;
    let session = api.member();
    let path = ("get", "/api/logouthere");
    calls.call(("member", &session), path, "", Value::Null, ("logout", "users")).await;

    let settings = json!({"privateKeyRetentionPeriod": {"value": 10, "unit": "days"}});
    calls.call(admin, ("put", "/api/admin/settings"), "", settings, ("change", "settings")).await;
    let team = json!({"name": "Web", "members": ["member"]});
    calls.call(admin, ("post", "/api/admin/teams"), "", team, ("create", "teams")).await;
    let user = json!({"username": "new", "password": "a long password of theirs"});
    calls.call(admin, ("post", "/api/admin/users"), "", user, ("create", "users")).await;
    let store = json!({"name": "Vault", "token": "local"});
    calls.call(admin, ("post", "/api/admin/keystores"), "", store, ("create", "keystores")).await;
    let ca = json!({
        "name": "New Root", "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=New Root",
        "lifetimeInDays": 3650, "keyAlgorithm": "ECDSA P-256",
    });
    calls.call(admin, ("post", "/api/admin/localca"), "", ca, ("create", "localca")).await;
    let profile = json!({
        "name": "Short", "lifetimeInMinutes": 60, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"], "allowedSanTypes": ["DNS"],
        "allowedKeyAlgorithms": ["ECDSA P-256"],
    });
    calls.call(admin, ("post", "/api/admin/profiles"), "", profile, ("create", "profiles")).await;
    let issuer = json!({
        "caName": "New", "localCaName": "Chancery Issuing CA",
        "certProfileName": "TLS Server and Client",
    });
    calls.call(admin, ("post", "/api/admin/ca"), "", issuer, ("create", "ca")).await;
    let generator = json!({"name": "New", "signatureAlgorithm": "RSA", "keySize": "2048"});
    let path = ("post", "/api/admin/generators");
    let made = calls.call(admin, path, "", generator, ("create", "generators")).await;
    let generator = json!({"name": "Newer", "signatureAlgorithm": "RSA", "keySize": "3072"});
    let path = ("put", "/api/admin/generators/{id}");
    calls.call(admin, path, &id(&made), generator, ("change", "generators")).await;
    let path = ("delete", "/api/admin/generators/{id}");
    calls.call(admin, path, &id(&made), Value::Null, ("delete", "generators")).await;

    let csr = json!({"caName": ISSUER, "csr": CSR, "teamName": "Default"});
    let path = ("post", "/api/certs/requestp10");
    let certified = calls.call(member, path, "", csr, ("issue", "certs")).await;
    let path = ("patch", "/api/certs/{id}");
    let change = json!({"extraDetails": "front door"});
    calls.call(member, path, &id(&certified), change, ("change", "certs")).await;
    let dn = json!({
        "caName": ISSUER, "dn": "CN=www.example.test", "csrGeneratorName": "ECDSA P-256",
        "p12Password": "open sesame", "teamName": "Default",
    });
    let kept = calls.call(member, ("post", "/api/certs/request"), "", dn, ("issue", "certs")).await;
    for form in ["p12", "jks", "pem"] {
        let path = format!("/api/certs/{{id}}/{form}");
        let told = ("download key", "certs");
        calls.call(member, ("get", &path), &id(&kept), Value::Null, told).await;
    }
    let brought = json!({"certData": FOREIGN, "revoked": true});
    let path = ("post", "/api/certs/import");
    let brought = calls.call(admin, path, "", brought, ("import", "certs")).await;
    let path = ("delete", "/api/certs/{id}");
    calls.call(admin, path, &id(&brought), Value::Null, ("delete", "certs")).await;
    let words = json!({"oldPassword": PASSWORD, "newPassword": "battery correct horse"});
    let path = ("post", "/api/currentuser/password");
    calls.call(member, path, "", words, ("password", "users")).await;

    assert_eq!(calls.done, changing(&api).await);
    let chains = api.administrator().get("/api/admin/audit/verify").await.json();
    assert_eq!(chains.as_array().unwrap().len(), 1, "{chains}");
    assert_eq!((&chains[0]["ok"], &chains[0]["fault"]), (&json!(true), &Value::Null), "{chains}");
}

#[tokio::test]
async fn every_refusal_to_change_something_leaves_an_entry_with_its_code() {
    let api = api().await;
    for (number, (method, template)) in changing(&api).await.into_iter().enumerate() {
        let path = template.replace("{id}", &"0".repeat(24));
        for (name, persona) in
            [("nobody", api.anonymous()), ("member", api.member()), ("admin", api.administrator())]
        {
            let request_id = format!("{name}-{number}");
            let answer = send(&persona, &method, &path, &request_id, &json!({"x": 1})).await;
            if answer.status == 200 {
                // A logout takes no notice of a body.
                assert!(path.contains("logout"), "{method} {path}: {}", answer.text);
                continue;
            }
            let told = audit(&api, &format!("requestId={request_id}")).await;
            assert_eq!(told.len(), 1, "{method} {path}: {told:?}");
            assert_eq!(told[0]["result"], answer.json()["code"], "{method} {path}");
            let username = if name == "nobody" { Value::Null } else { json!(name) };
            // Login knows nobody yet.
            if !path.ends_with("/login") {
                assert_eq!(told[0]["username"], username, "{method} {path}");
            }
        }
    }
}
