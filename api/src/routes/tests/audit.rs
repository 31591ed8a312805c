//! `/admin/audit`, and that nothing happens without it.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, SocketAddr};

use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Method, header};
use serde_json::{Value, json};

use super::certs::{CSR, FOREIGN, ISSUER};
use crate::testing::{Answer, Api, PASSWORD, Persona, api, api_on, api_with_issuer};

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

/// What the audit says of what is asked for behind the `?`, the latest first.
async fn audit(api: &Api, query: &str) -> Vec<Value> {
    api.state.audit.flush().await;
    let answer = api.administrator().get(&format!("/api/admin/audit?{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json().as_array().unwrap().clone()
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

#[tokio::test]
async fn reading_is_told_only_where_it_is_refused_for_want_of_a_right() {
    let api = api().await;

    api.administrator().get("/api/admin/users").await;
    api.member().post("/api/certs/search", &json!({})).await;
    api.member().get("/api/admin/users").await;

    let told = audit(&api, "").await;
    assert_eq!(told.len(), 1, "{told:?}");
    let expected = json!(["member", "read", "users", "not_administrator"]);
    let found: Vec<_> =
        ["username", "action", "objectKind", "result"].map(|field| told[0][field].clone()).into();
    assert_eq!(Value::from(found), expected);
}

#[tokio::test]
async fn a_failed_login_names_the_user_and_the_address_but_not_what_was_typed() {
    let api = api().await;
    let from = ConnectInfo(SocketAddr::from((Ipv4Addr::new(192, 0, 2, 7), 4711)));
    for username in ["MEMBER", "correct horse battery", "MEMBER"] {
        let request = api.anonymous().request(Method::POST, "/api/login");
        let request = request.header(header::CONTENT_TYPE, "application/json").extension(from);
        let body = json!({"username": username, "password": "wrong"}).to_string();
        let answer = api.anonymous().send(request.body(body.into()).unwrap()).await;
        assert_eq!(answer.refusal(), (401, "bad_credentials".to_owned()));
    }

    let told = audit(&api, "action=login").await;

    let found = told.iter().map(|entry| {
        assert_eq!(entry["address"], "192.0.2.7");
        (entry["objectName"].clone(), entry["times"].clone())
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by_key(|(name, _)| name.to_string());
    let member = (json!("member"), json!(1));
    assert_eq!(found, [member.clone(), member, (Value::Null, json!(1))]);
}

#[tokio::test]
async fn no_secret_stands_in_any_entry() {
    let secrets = ["Secret-of-User-1", "Secret-Package-2", "Secret-Change-3"];
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let user = json!({"username": "new", "password": secrets[0], "teamsIds": ["Default"]});
    assert_eq!(admin.post("/api/admin/users", &user).await.status, 200);
    let login = json!({"username": "new", "password": secrets[0]});
    let token = api.anonymous().post("/api/login", &login).await.json()["token"].clone();
    let token = token.as_str().unwrap().to_owned();
    let new = api.with_token(Some(token.clone()));
    let keep = json!({"privateKeyRetentionPeriod": {"value": 10, "unit": "days"}});
    admin.put("/api/admin/settings", &keep).await;
    for dn in ["CN=www.example.test", "XX=no"] {
        let dn = json!({
            "caName": ISSUER, "dn": dn, "csrGeneratorName": "ECDSA P-256",
            "p12Password": secrets[1],
        });
        new.post("/api/certs/request", &dn).await;
    }
    let wrong = json!({"oldPassword": secrets[2], "newPassword": secrets[2]});
    new.post("/api/currentuser/password", &wrong).await;
    let right = json!({"oldPassword": secrets[0], "newPassword": secrets[2]});
    assert_eq!(new.post("/api/currentuser/password", &right).await.status, 200);
    // Into the wrong fields.
    let odd = json!({"username": secrets[0], "password": "x"});
    api.anonymous().post("/api/login", &odd).await;
    admin.post(&format!("/api/admin/{}", secrets[0]), &odd).await;
    admin.put(&format!("/api/admin/generators/{}", secrets[0]), &odd).await;
    let account = api.state.store.account_named("new").await.unwrap().unwrap();

    api.state.audit.flush().await;
    let all = admin.get("/api/admin/audit/download").await.text;

    assert!(all.lines().count() > 10, "{all}");
    let others = [token.as_str(), PASSWORD, account.password_hash.as_str(), "$argon2"];
    for secret in secrets.iter().chain(&others) {
        assert!(!all.contains(secret), "{secret} in {all}");
    }
}

#[tokio::test]
async fn a_write_whose_entry_can_not_be_kept_does_not_happen() {
    for (engine, database) in crate::store::testing::both().await {
        let api = api_on(database, |_| ()).await;
        let check = match engine {
            "SQLite" => {
                "CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END"
            }
            _ => "ALTER TABLE audit ADD CONSTRAINT no CHECK (times > 1000)",
        };
        api.state.store.execute_for_test(check).await;

        let answer = api.administrator().post("/api/admin/teams", &json!({"name": "Web"})).await;

        assert_eq!(answer.refusal(), (500, "internal".to_owned()), "{engine}");
        assert!(api.state.store.team_named("Web").await.unwrap().is_none(), "{engine}");
    }
}

#[tokio::test]
async fn what_could_not_be_told_is_told_by_its_number_as_soon_as_the_database_takes_it() {
    let api = api().await;
    let no = "CREATE TRIGGER no BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'full'); END";
    api.state.store.execute_for_test(no).await;
    for _ in 0..3 {
        api.member().get("/api/admin/users").await;
        api.state.audit.flush().await;
    }
    api.state.store.execute_for_test("DROP TRIGGER no").await;
    api.member().get("/api/admin/teams").await;

    let told = audit(&api, "").await;

    let found: Vec<_> = told.iter().map(|entry| (&entry["action"], &entry["times"])).collect();
    assert_eq!(found, [(&json!("lose entries"), &json!(3)), (&json!("read"), &json!(1))]);
}

#[tokio::test]
async fn entries_are_listed_page_by_page_and_downloaded_a_line_each() {
    let api = api().await;
    let admin = api.administrator();
    for number in 0..7 {
        admin.post("/api/admin/teams", &json!({"name": format!("Team {number}")})).await;
    }

    let (mut names, mut path) =
        (Vec::new(), "/api/admin/audit?objectKind=teams&limit=3".to_owned());
    loop {
        let page = admin.get(&path).await;
        for entry in page.json().as_array().unwrap() {
            names.push(entry["after"]["name"].as_str().unwrap().to_owned());
        }
        let Some(link) = page.headers.get(header::LINK) else { break };
        let link = link.to_str().unwrap().trim_start_matches('<');
        path = link.split('>').next().unwrap().to_owned();
    }
    let download = admin.get("/api/admin/audit/download?action=create").await;

    let expected: Vec<_> = (0..7).map(|number| format!("Team {number}")).collect();
    let lines: Vec<Value> =
        download.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let downloaded: Vec<_> = lines.iter().map(|line| line["objectName"].clone()).collect();
    assert_eq!(downloaded, expected);
    names.reverse();
    assert_eq!(names, expected);
    assert_eq!(download.headers[header::CONTENT_TYPE], "application/jsonl");
    let one = &lines[0];
    let stated = json!({
        "timestamp": "2026-11-28T02:00:00.000+00:00", "chain": 1, "number": 1,
        "userId": api.admin_id(), "username": "admin", "address": null,
        "requestId": one["requestId"], "action": "create", "objectKind": "teams",
        "objectId": one["objectId"], "objectName": "Team 0", "before": null, "after": one["after"],
        "result": "ok", "times": 1, "hash": one["hash"],
    });
    assert_eq!(*one, stated);
}

#[tokio::test]
async fn a_question_that_makes_no_sense_is_refused_and_its_fields_are_named() {
    let api = api().await;
    let admin = api.administrator();
    for (query, field) in [
        ("from=soon", "from"),
        ("to=2026-99-01", "to"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("after=x", "after"),
        ("after=1.2", "after"),
        ("user=x", "user"),
    ] {
        let answer = admin.get(&format!("/api/admin/audit?{query}")).await;
        assert_eq!(answer.status, 400, "{query}: {}", answer.text);
        assert_eq!(answer.json()["fields"][0]["field"], field, "{}", answer.text);
    }
    let long = "x".repeat(257);
    let answer = admin.get(&format!("/api/admin/audit?username={long}")).await;
    assert_eq!(answer.json()["fields"][0]["field"], "username");
}

#[tokio::test]
async fn a_changed_entry_is_told_with_its_number() {
    let api = api().await;
    for name in ["One", "Two"] {
        api.administrator().post("/api/admin/teams", &json!({"name": name})).await;
    }
    for sql in [
        "DROP TRIGGER audit_is_not_changed",
        "UPDATE audit SET username = 'member' WHERE entry_no = 2",
    ] {
        api.state.store.execute_for_test(sql).await;
    }

    let chains = api.administrator().get("/api/admin/audit/verify").await.json();

    let found = ["chain", "ok", "faultAt", "fault"].map(|field| chains[0][field].clone());
    let fault =
        "the entry, the one before it, or the beginning of the chain is not what was written";
    assert_eq!(found, [json!(1), json!(false), json!(2), json!(fault)]);
}
