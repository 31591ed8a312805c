//! Who gets through to which operation: every operation of the OpenAPI document is called by every
//! kind of caller, on both engines, and what is to come of it stands in one table.

mod bodies;

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::{Method, header};
use chancery_shared::id::{RowId, UserId};
use serde_json::{Value, json};

use crate::store::account::Group;
use crate::store::testing::both;
use crate::testing::{Api, Persona, api_on, insert_team, insert_user};

/// A line for each operation: method, path, and the status for each of [`CALLERS`].
const TABLE: &str = include_str!("table.txt");

const CALLERS: [&str; 7] = ["nobody", "stranger", "mate", "owner", "admin", "disabled", "expired"];

/// A service with a certificate of `owner`, whose team `mate` is in and `stranger` is not; users see
/// what is of their teams.
struct Scene {
    api: Api,
    certificate: String,
    stranger: UserId,
    mate: UserId,
    disabled: UserId,
    /// Of each kind below `/api/admin`, the path of one that there is.
    items: BTreeMap<&'static str, String>,
}

impl Scene {
    async fn new(api: Api) -> Self {
        crate::first_start::run_once(&api.state).await.unwrap();
        let other = insert_team(&api.state, "Other", Group::Users).await;
        let stranger = insert_user(&api.state, "stranger", &[other]).await;
        let mate = insert_user(&api.state, "mate", &[api.default_team]).await;
        let disabled = insert_user(&api.state, "disabled", &[api.administrators]).await;
        let disable = "UPDATE account SET enabled = 0 WHERE username = 'disabled'";
        api.state.store.execute_for_test(disable).await;
        let team = json!({"visibility": "team"});
        assert_eq!(api.administrator().put("/api/admin/settings", &team).await.status, 200);
        let body = json!({
            "caName": "Chancery Issuer", "dn": "CN=www.example.test",
            "csrGeneratorName": "ECDSA P-256", "p12Password": "secret of mine",
        });
        let issued = api.member().post("/api/certs/request", &body).await.json();
        let certificate = issued["certId"].as_str().unwrap().to_owned();
        let admin = api.administrator();
        let spare = json!({"name": "Spare", "signatureAlgorithm": "RSA", "keySize": "2048"});
        let spare = admin.post("/api/admin/generators", &spare).await.json();
        let vault = json!({"name": "Vault", "token": "local"});
        assert_eq!(admin.post("/api/admin/keystores", &vault).await.status, 200);
        let mut items = BTreeMap::from([
            ("generators", spare["id"].as_str().unwrap().to_owned()),
            ("teams", other.to_string()),
            ("users", stranger.to_string()),
        ]);
        for kind in ["ca", "keystores", "localca", "profiles"] {
            let list = admin.get(&format!("/api/admin/{kind}")).await.json();
            items.insert(kind, list[0]["id"].as_str().unwrap().to_owned());
        }
        Self { api, certificate, stranger, mate, disabled, items }
    }

    /// With a token of its own: a logout ends no other call's.
    fn caller(&self, name: &str) -> Persona {
        match name {
            "nobody" => self.api.anonymous(),
            "stranger" => self.api.user(self.stranger),
            "mate" => self.api.user(self.mate),
            "owner" => self.api.member(),
            "admin" => self.api.administrator(),
            "disabled" => self.api.user(self.disabled),
            "expired" => {
                let hour = time::Duration::HOUR;
                let then = self.api.state.clock.now() - 2 * hour;
                let id = RowId::from_bytes([1; 12]);
                let admin = self.api.admin_id();
                self.api.with_token(self.api.state.tokens.issue(admin, 1, id, then, hour))
            }
            other => panic!("nobody is called {other}"),
        }
    }

    /// The path with what there is filled in. What would take it away is called for what there is not.
    fn filled(&self, method: &str, path: &str) -> String {
        let kind = path.strip_prefix("/api/admin/").and_then(|rest| rest.split('/').next());
        let item = kind.and_then(|kind| self.items.get(kind));
        let takes_away = method == "delete" || path.contains("/restore/");
        let part = |part: &str| match (part, item) {
            ("{id}", _) if path.starts_with("/api/certs/") => self.certificate.clone(),
            ("{id}", Some(item)) if !takes_away => item.clone(),
            ("{caName}" | "{name}", _) => "Chancery%20Issuer".to_owned(),
            (part, _) if part.starts_with('{') => "0".repeat(24),
            (part, _) => part.to_owned(),
        };
        path.split('/').map(part).collect::<Vec<_>>().join("/")
    }

    async fn call(&self, caller: &str, method: &str, path: &str) -> (u16, Value) {
        let persona = self.caller(caller);
        let verb: Method = method.to_uppercase().parse().unwrap();
        let request = persona.request(verb, &self.filled(method, path));
        let request = match method {
            "get" | "delete" => request.body(Body::empty()),
            _ => {
                let body = bodies::body(method, path, caller).to_string();
                request.header(header::CONTENT_TYPE, "application/json").body(body.into())
            }
        };
        let answer = persona.send(request.unwrap()).await;
        let body = serde_json::from_str(&answer.text).unwrap_or_default();
        (answer.status.as_u16(), body)
    }
}

fn table() -> BTreeMap<(String, String), Vec<u16>> {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
        ((method, path), words.map(|word| word.parse().unwrap()).collect())
    };
    lines.map(row).collect()
}

async fn operations(api: &Api) -> Vec<(String, String)> {
    let document = api.anonymous().get("/api/openapi.json").await.json();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            operations.push((method.clone(), path.clone()));
        }
    }
    operations
}

#[tokio::test]
async fn every_operation_answers_every_kind_of_caller_as_the_table_says() {
    let table = table();
    for (engine, store) in both().await {
        let scene = Scene::new(api_on(store, |_| ()).await).await;
        let operations = operations(&scene.api).await;
        let mut wrong = Vec::new();
        for operation in &operations {
            let (method, path) = operation;
            let mut found = Vec::new();
            for caller in CALLERS {
                let (status, body) = scene.call(caller, method, path).await;
                let shape = !(400..600).contains(&status) || body["code"].is_string();
                assert!(shape && status < 500, "{engine}, {caller}: {method} {path}: {body}");
                found.push(status);
            }
            if table.get(operation) != Some(&found) {
                let statuses: Vec<_> = found.iter().map(ToString::to_string).collect();
                wrong.push(format!("{method} {path} {}", statuses.join(" ")));
            }
        }
        assert!(wrong.is_empty(), "{engine}: the table lacks or denies\n{}", wrong.join("\n"));
        let gone = table.keys().filter(|row| !operations.contains(row));
        assert_eq!(gone.collect::<Vec<_>>(), Vec::<&(String, String)>::new(), "{engine}");
    }
}

#[tokio::test]
async fn nothing_that_can_be_read_holds_a_secret() {
    let scene = Scene::new(crate::testing::api().await).await;
    let (admin, body) = (scene.api.administrator(), json!({"name": "x"}));
    let made = admin.post("/api/currentuser/apitokens", &body).await.json();
    let secret = made["token"].as_str().unwrap().rsplit('_').next().unwrap().to_owned();
    let hash = &scene.api.state.store.api_tokens_of(scene.api.admin_id()).await.unwrap()[0];
    let secrets = ["$argon2", &secret, &hash.secret_hash, crate::testing::PASSWORD];
    for (method, path) in operations(&scene.api).await {
        if method != "get" {
            continue;
        }
        let filled = scene.filled(&method, &path);
        let mut statuses = Vec::new();
        // Some is for the owner of the certificate alone. Each has a token of its own: a logout is
        // among the calls.
        for caller in ["admin", "owner"] {
            let answer = scene.caller(caller).get(&filled).await;
            statuses.push(answer.status.as_u16());
            for secret in secrets {
                assert!(!answer.text.contains(secret), "{caller}: {path}: {secret}");
            }
        }
        assert!(statuses.contains(&200), "{path} was not read: {statuses:?}");
    }
}
