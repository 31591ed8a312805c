//! Told from the OpenAPI document, so that no operation is forgotten.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::certs::{CSR, FOREIGN, ISSUER};
use super::audit;
use super::calls::{Calls, machine, send};
use crate::testing::{Api, PASSWORD, Persona, api, api_with_issuer};

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

fn id(item: &Value) -> String {
    item["id"].as_str().unwrap().to_owned()
}

/// A Key Store and a Local CA.
async fn change_what_issues(
    calls: &mut Calls<'_>,
    admin: (&'static str, &Persona),
    [store, ca]: [&Value; 2],
) {
    let path = ("put", "/api/admin/keystores/{id}");
    calls.call(admin, path, &id(store), json!({"name": "Safe"}), ("change", "keystores")).await;
    let path = ("put", "/api/admin/localca/{id}");
    calls.call(admin, path, &id(ca), json!({"name": "Newer"}), ("change", "localca")).await;
    for (word, path) in [
        ("offline", "/api/admin/localca/{id}/offline"),
        ("online", "/api/admin/localca/{id}/online"),
    ] {
        calls.call(admin, ("post", path), &id(ca), Value::Null, (word, "localca")).await;
    }
}

#[tokio::test]
async fn every_operation_that_changes_something_leaves_an_entry() {
    let api = api_with_issuer().await;
    let (boss, robot, member) = (
        api.administrator(),
        machine(&api, api.admin_id()).await,
        machine(&api, api.member_id()).await,
    );
    // What an API token may do is done by one.
    let (boss, admin, own) = (("admin", &boss), ("admin", &robot), api.member());
    let (member, own, nobody) = (("member", &member), ("member", &own), api.anonymous());
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
    let path = ("post", "/api/admin/teams");
    let team = calls.call(admin, path, "", team, ("create", "teams")).await;
    let user = json!({"username": "new", "password": "a long password of theirs"});
    let path = ("post", "/api/admin/users");
    let user = calls.call(boss, path, "", user, ("create", "users")).await;
    let store = json!({"name": "Vault", "token": "local"});
    let path = ("post", "/api/admin/keystores");
    let store = calls.call(admin, path, "", store, ("create", "keystores")).await;
    let ca = json!({
        "name": "New Root", "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=New Root",
        "lifetimeInDays": 3650, "keyAlgorithm": "ECDSA P-256",
    });
    let path = ("post", "/api/admin/localca");
    let ca = calls.call(admin, path, "", ca, ("create", "localca")).await;
    change_what_issues(&mut calls, admin, [&store, &ca]).await;
    let profile = json!({
        "name": "Short", "lifetimeInMinutes": 60, "keyUsages": ["Digital Signature"],
        "enhancedKeyUsages": ["Server Authentication"], "allowedSanTypes": ["DNS"],
        "allowedKeyAlgorithms": ["ECDSA P-256"],
    });
    let path = ("post", "/api/admin/profiles");
    let made = calls.call(admin, path, "", profile.clone(), ("create", "profiles")).await;
    let path = ("put", "/api/admin/profiles/{id}");
    calls.call(admin, path, &id(&made), profile, ("change", "profiles")).await;
    let path = ("delete", "/api/admin/profiles/{id}");
    calls.call(admin, path, &id(&made), Value::Null, ("delete", "profiles")).await;
    let issuer = json!({
        "caName": "New", "localCaName": "Chancery Issuing CA",
        "certProfileName": "TLS Server and Client",
    });
    let path = ("post", "/api/admin/ca");
    let issuer = calls.call(admin, path, "", issuer, ("create", "ca")).await;
    let path = ("put", "/api/admin/ca/{id}");
    let change = json!({"allowDnRequests": false});
    calls.call(admin, path, &id(&issuer), change, ("change", "ca")).await;
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
    calls.call(own, path, "", words, ("password", "users")).await;

    people(&mut calls, [boss, admin], [&team, &user]).await;
    retained(&mut calls, admin, [&issuer, &ca, &store]).await;

    assert_eq!(calls.done, changing(&api).await);
    let chains = api.administrator().get("/api/admin/audit/verify").await.json();
    assert_eq!(chains.as_array().unwrap().len(), 1, "{chains}");
    assert_eq!((&chains[0]["ok"], &chains[0]["fault"]), (&json!(true), &Value::Null), "{chains}");
}

/// What there is of users, teams and their tokens.
async fn people(
    calls: &mut Calls<'_>,
    [boss, admin]: [(&str, &Persona); 2],
    [team, user]: [&Value; 2],
) {
    let (own, theirs) = ("/api/currentuser/apitokens", "/api/admin/users/{id}/apitokens");
    let made = ("create API token", "apitokens");
    let ended = ("delete API token", "apitokens");
    let new = json!({"name": "build", "validDays": 1});
    let token = calls.call(boss, ("post", own), "", new.clone(), made).await;
    let path = ("delete", "/api/currentuser/apitokens/{id}");
    calls.call(admin, path, &id(&token), Value::Null, ended).await;
    let token = calls.call(boss, ("post", theirs), &id(user), new, made).await;
    let path = ("delete", "/api/admin/users/{id}/apitokens/{tokenId}");
    let both = format!("{} {}", id(user), id(&token));
    calls.call(admin, path, &both, Value::Null, ended).await;

    let path = ("post", "/api/admin/users/{id}/unlock");
    calls.call(admin, path, &id(user), Value::Null, ("unlock", "users")).await;
    let path = ("put", "/api/admin/users/{id}");
    let change = json!({"email": "new@example.test"});
    calls.call(admin, path, &id(user), change, ("change", "users")).await;
    let path = ("delete", "/api/admin/users/{id}");
    calls.call(admin, path, &id(user), Value::Null, ("delete", "users")).await;
    let path = ("put", "/api/admin/teams/{id}");
    calls.call(admin, path, &id(team), json!({"members": []}), ("change", "teams")).await;
    let path = ("delete", "/api/admin/teams/{id}");
    calls.call(admin, path, &id(team), Value::Null, ("delete", "teams")).await;
}

/// Deletes, restores and removes each for good, the one that stands on the others first.
async fn retained(calls: &mut Calls<'_>, admin: (&str, &Persona), items: [&Value; 3]) {
    let state = &calls.api.state;
    let path = ("post", "/api/admin/status/purge/confirm");
    calls.call(admin, path, "", Value::Null, ("confirm", "status")).await;

    // A key that does not fit its CA.
    let ca = state.store.local_ca(id(items[1]).parse().unwrap()).await.unwrap().unwrap();
    let at = |moment: &str| {
        format!("UPDATE local_ca SET deleted_at = {moment} WHERE name = '{}'", ca.name)
    };
    state.store.execute_for_test(&at("5")).await;
    let path = ("post", "/api/admin/status/keys/{id}/repair");
    let key = ca.key_id.unwrap().to_string();
    calls.call(admin, path, &key, Value::Null, ("repair", "status")).await;
    state
        .store
        .execute_for_test(&at(&crate::timestamp::to_millis(state.clock.now()).to_string()))
        .await;
    let path = ("post", "/api/admin/localca/restore/{id}");
    calls.call(admin, path, &id(items[1]), Value::Null, ("restore", "localca")).await;

    for (kind, item) in ["ca", "localca", "keystores"].into_iter().zip(items) {
        let one = format!("/api/admin/{kind}/{{id}}");
        calls.call(admin, ("delete", &one), &id(item), Value::Null, ("delete", kind)).await;
        let restore = format!("/api/admin/{kind}/restore/{{id}}");
        calls.call(admin, ("post", &restore), &id(item), Value::Null, ("restore", kind)).await;
        let force = format!("{one}/force");
        calls.call(admin, ("delete", &force), &id(item), Value::Null, ("delete force", kind)).await;
    }
}

#[tokio::test]
async fn every_refusal_to_change_something_leaves_an_entry_with_its_code() {
    let api = api().await;
    for (number, (method, template)) in changing(&api).await.into_iter().enumerate() {
        let none = "0".repeat(24);
        let path = template.replace("{id}", &none).replace("{tokenId}", &none);
        for (name, persona) in [
            ("nobody", api.anonymous()),
            ("member", api.member()),
            ("admin", machine(&api, api.admin_id()).await),
        ] {
            let request_id = format!("{name}-{number}");
            let answer = send(&persona, &method, &path, &request_id, &json!({"x": 1})).await;
            if answer.status == 200 {
                // These take no notice of a body.
                let takes_any = path.contains("logout") || path.ends_with("/confirm");
                assert!(takes_any, "{method} {path}: {}", answer.text);
                continue;
            }
            let told = audit(&api, &format!("requestId={request_id}")).await;
            assert_eq!(told.len(), 1, "{method} {path}: {told:?}");
            assert_eq!(told[0]["result"], answer.json()["code"], "{method} {path}");
            let username = if name == "nobody" { Value::Null } else { json!(name) };
            // Login knows nobody yet.
            if !path.ends_with("/login") {
                assert_eq!(told[0]["username"], username, "{method} {path}");
                let token = persona.api_token_id();
                assert_eq!(told[0]["apiTokenId"], json!(token), "{method} {path}");
            }
        }
    }
}
