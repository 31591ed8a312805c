//! What nothing may be called: what looks like an id, what does not show, and what the audit calls the
//! service.

use serde_json::{Value, json};

use crate::testing::{Api, PASSWORD, api, api_with_issuer};

/// For each kind of thing that has a name: where one is made, its name's field, and a sound body.
fn makings() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("users", "username", json!({"password": PASSWORD})),
        ("teams", "name", json!({})),
        (
            "profiles",
            "name",
            json!({
                "lifetimeInMinutes": 60, "keyUsages": ["Digital Signature"],
                "enhancedKeyUsages": ["Server Authentication"],
            }),
        ),
        ("generators", "name", json!({"signatureAlgorithm": "RSA", "keySize": "2048"})),
        ("keystores", "name", json!({"token": "local"})),
        (
            "localca",
            "name",
            json!({
                "keyStoreName": "Vault", "rootCa": true, "subjectDn": "CN=Another Root",
                "lifetimeInDays": 700, "keyAlgorithm": "ECDSA P-256",
            }),
        ),
        (
            "ca",
            "caName",
            json!({
                "localCaName": "Chancery Issuing CA", "certProfileName": "TLS Server and Client",
            }),
        ),
    ]
}

fn called(mut body: Value, field: &str, name: &str) -> Value {
    body[field] = json!(name);
    body
}

/// The first thing of each kind that can be renamed, its name's field, and the body of a renaming.
async fn renamings(api: &Api) -> Vec<(String, &'static str, Value)> {
    let mut found = Vec::new();
    for (kind, field, body) in makings() {
        if kind == "users" {
            continue;
        }
        let all = api.administrator().get(&format!("/api/admin/{kind}")).await.json();
        let id = all[0]["id"].as_str().unwrap_or_else(|| panic!("{kind}: {all}")).to_owned();
        let body = match kind {
            "ca" | "keystores" | "localca" => json!({}),
            _ => body,
        };
        found.push((format!("/api/admin/{kind}/{id}"), field, body));
    }
    found
}

#[tokio::test]
async fn nothing_new_looks_like_an_id_or_has_what_does_not_show_in_its_name() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let renamings = renamings(&api).await;
    for (name, said) in [
        ("0123456789abcdef01234567", "24 hexadecimal digits"),
        ("ABCDEFABCDEFABCDEFABCDEF", "24 hexadecimal digits"),
        ("aBcDeFaBcDeF012345678901", "24 hexadecimal digits"),
        ("ann\u{200b}", "does not show"),
        ("\u{feff}ann", "does not show"),
        ("a\u{ad}nn", "does not show"),
        ("a\u{200d}nn", "does not show"),
        ("a\u{202e}nn", "does not show"),
        ("a\u{2066}nn", "does not show"),
        ("a\u{2028}nn", "does not show"),
        ("a\u{7f}nn", "does not show"),
        ("a\u{85}nn", "does not show"),
        ("a\u{e0061}nn", "does not show"),
        ("a\u{e000}nn", "does not show"),
        ("a\u{0378}nn", "does not show"),
        ("a\u{34f}nn", "does not show"),
        ("a\u{3164}nn", "does not show"),
        ("ann\u{fe0f}", "does not show"),
        ("ann\u{2800}", "does not show"),
        (" ann", "blank at either end"),
        ("ann\u{a0}", "blank at either end"),
    ] {
        for (kind, field, body) in makings() {
            let body = called(body, field, name);
            let answer = admin.post(&format!("/api/admin/{kind}"), &body).await;
            refused(&answer, field, said, &format!("{kind} {name:?}"));
        }
        for (path, field, body) in &renamings {
            let answer = admin.put(path, &called(body.clone(), field, name)).await;
            refused(&answer, field, said, &format!("{path} {name:?}"));
        }
    }
}

fn refused(answer: &crate::testing::Answer, field: &str, said: &str, what: &str) {
    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{what}");
    let fault = &answer.json()["fields"][0];
    assert_eq!(fault["field"], field, "{what}: {fault}");
    assert!(fault["message"].as_str().unwrap().contains(said), "{what}: {fault}");
}

#[tokio::test]
async fn names_of_every_script_pass() {
    let api = api().await;
    for name in [
        "jörg",
        "Ωμέγα",
        "山田 太郎",
        "ألف",
        "नमस्ते",
        "a b",
        "a@example.test",
        "\u{1f600}",
        "0123456789abcdef0123456",
        "0123456789abcdef012345678",
        "System 1",
    ] {
        let body = json!({"username": name, "password": PASSWORD});
        let answer = api.administrator().post("/api/admin/users", &body).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        let team = api.administrator().post("/api/admin/teams", &json!({"name": name})).await;
        assert_eq!(team.status, 200, "{name}: {}", team.text);
    }
}

#[tokio::test]
async fn no_user_is_called_as_the_audit_calls_the_service() {
    let api = api().await;
    for name in ["system", "System", "SYSTEM"] {
        let body = json!({"username": name, "password": PASSWORD});

        let answer = api.administrator().post("/api/admin/users", &body).await;

        refused(&answer, "username", "the audit calls the service", name);
    }
}

#[tokio::test]
async fn a_user_or_team_named_by_its_id_is_that_one() {
    for (engine, store) in crate::store::testing::both().await {
        let api = crate::testing::api_on(store, |_| ()).await;
        let (member, team) = (api.member_id(), api.default_team);
        // Such names were possible once.
        let other = crate::testing::insert_user(&api.state, &member.to_string(), &[]).await;
        let impostor = crate::store::account::Group::Users;
        crate::testing::insert_team(&api.state, &team.to_string(), impostor).await;
        let admin = api.administrator();

        let body = json!({"members": [member.to_string()]});
        let members = admin.put(&format!("/api/admin/teams/{team}"), &body).await;
        let body = json!({"teamsIds": [team.to_string()]});
        let teams = admin.put(&format!("/api/admin/users/{other}"), &body).await;

        assert_eq!(members.json()["members"], json!([member]), "{engine}: {}", members.text);
        assert_eq!(teams.json()["teamsIds"], json!([team]), "{engine}: {}", teams.text);
    }
}

#[tokio::test]
async fn a_search_by_the_id_of_an_issuer_finds_what_that_one_issued() {
    let api = api_with_issuer().await;
    let request = json!({"caName": "Chancery Issuer", "csr": super::certs::CSR});
    let made = api.member().post("/api/certs/requestp10", &request).await;
    assert_eq!(made.status, 200, "{}", made.text);
    let admin = api.administrator();
    let issuer = admin.get("/api/admin/ca").await.json()[0]["id"].as_str().unwrap().to_owned();
    let (_, _, body) = makings().pop().unwrap();
    let other = admin.post("/api/admin/ca", &called(body, "caName", "Other")).await;
    assert_eq!(other.status, 200, "{}", other.text);
    let sql = format!("UPDATE cert_issuer SET name = '{issuer}' WHERE name = 'Other'");
    api.state.store.execute_for_test(&sql).await;

    let found = admin.get(&format!("/api/certs?caName={issuer}")).await.json();

    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
}
