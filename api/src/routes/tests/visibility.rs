//! Who sees which certificates, by the setting `visibility`, on both engines.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::store::account::Group;
use crate::store::testing::both;
use crate::testing::{Persona, api_on, insert_team, insert_user};

async fn issued_by(persona: &Persona, name: &str) -> String {
    let body = json!({
        "caName": "Chancery Issuer", "dn": format!("CN={name}"),
        "csrGeneratorName": "ECDSA P-256", "p12Password": "secret of mine",
    });
    let answer = persona.post("/api/certs/request", &body).await;
    answer.json()["certId"].as_str().unwrap().to_owned()
}

fn names(list: &Value) -> BTreeSet<String> {
    let names = list.as_array().unwrap().iter();
    names.map(|record| record["commonName"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_is_not_to_be_seen_is_in_no_list_and_behind_no_path() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        crate::first_start::run_once(&api.state).await.unwrap();
        let other = insert_team(&api.state, "Other", Group::Users).await;
        let mate = api.user(insert_user(&api.state, "mate", &[api.default_team]).await);
        let stranger = api.user(insert_user(&api.state, "stranger", &[other]).await);
        let (admin, member) = (api.administrator(), api.member());
        let of_member = issued_by(&member, "member.example.test").await;
        issued_by(&mate, "mate.example.test").await;
        issued_by(&stranger, "stranger.example.test").await;
        let cas = ["Chancery Root CA", "Chancery Issuing CA"];
        let all = ["member.example.test", "mate.example.test", "stranger.example.test"];
        let expected = |of: &[&str]| -> BTreeSet<String> {
            of.iter().chain(&cas).map(|name| (*name).to_owned()).collect()
        };

        for (visibility, member_sees, stranger_sees) in [
            ("all", &all[..], &all[..]),
            ("team", &all[..2], &all[2..]),
            ("own", &all[..1], &all[2..]),
        ] {
            let body = json!({"visibility": visibility});
            assert_eq!(admin.put("/api/admin/settings", &body).await.status, 200);
            for (persona, sees) in [(&member, member_sees), (&stranger, stranger_sees)] {
                let listed = names(&persona.get("/api/certs").await.json());
                let paged = names(&persona.get("/api/certs?limit=100").await.json());
                let found = persona.post("/api/certs/search", &json!({"san": "", "dn": ""})).await;
                assert_eq!(found.status, 400, "{engine}");
                let wanted = json!({"commonName": "example.test"});
                let found = names(&persona.post("/api/certs/search", &wanted).await.json());
                assert_eq!(listed, expected(sees), "{engine}, {visibility}");
                assert_eq!(paged, listed, "{engine}, {visibility}");
                let expected: BTreeSet<_> = sees.iter().map(|name| (*name).to_owned()).collect();
                assert_eq!(found, expected, "{engine}, {visibility}");
            }
            assert!(names(&admin.get("/api/certs").await.json()).is_superset(&expected(&all)));

            let hides = visibility != "all";
            for below in ["", "/cer", "/pemcert", "/chain", "/p7b", "/csr", "/p12", "/jks", "/pem"]
            {
                let path = format!("/api/certs/{of_member}{below}");
                let status = stranger.get(&path).await.status.as_u16();
                let is_key = ["/p12", "/jks", "/pem"].contains(&below);
                let expected = if hides {
                    404
                } else if is_key {
                    403
                } else {
                    200
                };
                assert_eq!(status, expected, "{engine}, {visibility}: {path}");
                assert_eq!(member.get(&path).await.status, 200, "{engine}, {visibility}: {path}");
                let of_admin = admin.get(&path).await.status.as_u16();
                assert_eq!(of_admin, if is_key { 403 } else { 200 }, "{engine}: {path}");
            }
            let path = format!("/api/certs/{of_member}");
            let change = json!({"extraDetails": "mine now"});
            let expected = if hides { 404 } else { 403 };
            assert_eq!(stranger.patch(&path, &change).await.status, expected, "{engine}");
            let of_mate = mate.patch(&path, &json!({"extraDetails": visibility})).await;
            assert_eq!(of_mate.status, if visibility == "own" { 404 } else { 200 }, "{engine}");
        }
    }
}
