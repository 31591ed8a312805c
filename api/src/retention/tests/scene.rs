//! A service with a Key Store, a root, a CA below it and an issuer, asked by an administrator.

use chancery_shared::id::KeyId;
use chancery_shared::wire::v1::KeyState;
use serde_json::{Value, json};

use crate::config::Config;
use crate::retention;
use crate::store::testing::{TestStore, both, postgres, sqlite};
use crate::testing::{Answer, Api, Persona, api_on};

pub(crate) struct Scene {
    pub(crate) engine: &'static str,
    pub(crate) api: Api,
    pub(crate) store: String,
    pub(crate) root: String,
    pub(crate) ca: String,
    pub(crate) issuer: String,
}

/// One scene on each engine.
pub(crate) async fn scenes(change: impl Fn(&mut Config)) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for (engine, store) in both().await {
        scenes.push(scene(engine, store, &change).await);
    }
    scenes
}

/// A scene on this engine.
pub(crate) async fn on_engine(engine: &'static str, change: impl Fn(&mut Config)) -> Scene {
    let store = match engine {
        "SQLite" => sqlite().await,
        _ => postgres().await,
    };
    scene(engine, store, change).await
}

async fn scene(engine: &'static str, store: TestStore, change: impl Fn(&mut Config)) -> Scene {
    let api = api_on(store, change).await;
    crate::first_start::run_once(&api.state).await.unwrap();
    let admin = api.administrator();
    let id = async |path: &str, name: &str, field: &str| {
        let list = admin.get(path).await.json();
        let found = list.as_array().unwrap().iter().find(|item| item[field] == name).cloned();
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let store = id("/api/admin/keystores", "Local Token", "name").await;
    let root = id("/api/admin/localca", "Chancery Root CA", "name").await;
    let ca = id("/api/admin/localca", "Chancery Issuing CA", "name").await;
    let issuer = id("/api/admin/ca", "Chancery Issuer", "caName").await;
    Scene { engine, api, store, root, ca, issuer }
}

impl Scene {
    /// Freshly logged in: tests move the clock.
    pub(crate) fn admin(&self) -> Persona {
        self.api.administrator()
    }

    pub(crate) async fn delete(&self, kind: &str, id: &str) -> Answer {
        self.admin().delete(&format!("/api/admin/{kind}/{id}")).await
    }

    pub(crate) async fn force(&self, kind: &str, id: &str) -> Answer {
        self.admin().delete(&format!("/api/admin/{kind}/{id}/force")).await
    }

    /// With the deleted items that stand on it.
    pub(crate) async fn force_all(&self, kind: &str, id: &str) -> Answer {
        self.admin().delete(&format!("/api/admin/{kind}/{id}/force?withDependants=true")).await
    }

    pub(crate) async fn restore(&self, kind: &str, id: &str) -> Answer {
        self.admin().post_text(&format!("/api/admin/{kind}/restore/{id}"), "").await
    }

    /// One on which nothing stands.
    pub(crate) async fn another_key_store(&self) -> String {
        let body = json!({"name": "Empty Store", "token": "local"});
        let store = self.admin().post("/api/admin/keystores", &body).await.json();
        store["id"].as_str().unwrap().to_owned()
    }

    /// Names in a list, live or deleted.
    pub(crate) async fn names(&self, path: &str) -> Vec<String> {
        let list = self.admin().get(&format!("/api/admin/{path}")).await.json();
        let name = |item: &Value| {
            item.get("name").or(item.get("caName")).unwrap().as_str().unwrap().to_owned()
        };
        list.as_array().unwrap().iter().map(name).collect()
    }

    /// Deletes the issuer and both CAs, in order.
    pub(crate) async fn delete_down_to_the_store(&self) {
        for (kind, id) in [("ca", &self.issuer), ("localca", &self.ca), ("localca", &self.root)] {
            let answer = self.delete(kind, id).await;
            assert_eq!(answer.status, 200, "{}: {}", self.engine, answer.text);
        }
    }

    /// How the signer has the key of a CA; what is destroyed is as good as unknown.
    pub(crate) fn key(&self, key: KeyId) -> KeyState {
        let signer = self.api.fake.signer();
        let found = signer.keys.iter().find(|found| found.summary.key_id == key);
        found.map_or(KeyState::Destroyed, |found| found.summary.state)
    }

    pub(crate) async fn key_of(&self, ca: &str) -> KeyId {
        let row = self.api.state.store.local_ca(ca.parse().unwrap()).await.unwrap();
        row.unwrap().key_id.unwrap()
    }

    pub(crate) async fn resume(&self) {
        retention::resume_once(&self.api.state).await.unwrap();
    }

    pub(crate) async fn issue(&self) -> Answer {
        let body = json!({
            "caName": self.issuer, "dn": "CN=a.example.test", "csrGeneratorName": "ECDSA P-256",
            "p12Password": "a long password", "teamName": "Administrators",
        });
        self.admin().post("/api/certs/request", &body).await
    }
}
