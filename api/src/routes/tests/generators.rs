//! `/admin/generators`.

use serde_json::{Value, json};

use crate::store::testing::both;
use crate::testing::{Api, api, api_on, api_with_issuer};

const PATH: &str = "/api/admin/generators";

fn rsa(name: &str) -> Value {
    json!({"name": name, "signatureAlgorithm": "RSA", "keySize": "2048"})
}

async fn named(api: &Api, name: &str) -> String {
    let found = api.state.store.csr_generator_named(name).await.unwrap();
    format!("{PATH}/{}", found.unwrap().id)
}

#[tokio::test]
async fn the_first_start_makes_one_for_each_kind_of_key_and_any_user_reads_exactly_six_fields() {
    let api = api_with_issuer().await;

    let all = api.member().get(PATH).await.json();

    let all: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|item| {
            let mut item = item.clone();
            assert!(item.as_object_mut().unwrap().remove("id").unwrap().is_string());
            item
        })
        .collect();
    let item = |name, algorithm, size: Option<&str>, curve: Option<&str>, hash: Option<&str>| {
        json!({
            "name": name, "signatureAlgorithm": algorithm, "keySize": size,
            "ellipticCurveName": curve, "hashAlgorithm": hash,
        })
    };
    let sha256 = Some("SHA-256");
    let mut expected = [
        item("RSA 2048", "RSA", Some("2048"), None, sha256),
        item("RSA 3072", "RSA", Some("3072"), None, sha256),
        item("RSA 4096", "RSA", Some("4096"), None, sha256),
        item("ECDSA P-256", "ECDSA", None, Some("P-256"), sha256),
        item("ECDSA P-384", "ECDSA", None, Some("P-384"), Some("SHA-384")),
        item("ECDSA P-521", "ECDSA", None, Some("P-521"), Some("SHA-512")),
        item("Ed25519", "Ed25519", None, None, None),
    ];
    let by_name = |a: &Value, b: &Value| a["name"].as_str().cmp(&b["name"].as_str());
    let mut all = all;
    all.sort_by(by_name);
    expected.sort_by(by_name);
    assert_eq!(all, expected);
}

#[tokio::test]
async fn an_administrator_makes_changes_and_deletes_one() {
    let api = api().await;
    let admin = api.administrator();

    let made = admin.post(PATH, &rsa("Web")).await.json();
    let path = format!("{PATH}/{}", made["id"].as_str().unwrap());
    let expected = json!({
        "id": made["id"], "name": "Web", "signatureAlgorithm": "RSA", "keySize": "2048",
        "ellipticCurveName": null, "hashAlgorithm": "SHA-256",
        "created": "2026-11-28T02:00:00.000+00:00", "createdBy": "admin",
    });
    assert_eq!(made, expected);
    assert_eq!(admin.get(&path).await.json(), expected);

    let body = json!({
        "name": "Curve", "signatureAlgorithm": "ECDSA", "keySize": "",
        "ellipticCurveName": "P-384", "hashAlgorithm": "SHA-384",
    });
    let changed = admin.put(&path, &body).await.json();
    assert_eq!((&changed["name"], &changed["keySize"]), (&json!("Curve"), &Value::Null));
    assert_eq!(admin.get(&path).await.json(), changed);

    assert_eq!(admin.delete(&path).await.json(), changed);
    assert_eq!(admin.get(&path).await.refusal(), (404, "not_found".to_owned()));
    assert_eq!(admin.get(PATH).await.json(), json!([]));
}

#[tokio::test]
async fn what_makes_no_key_is_refused_with_its_field() {
    let api = api().await;
    for (changes, field) in [
        (json!({"name": " Web"}), "name"),
        (json!({"signatureAlgorithm": "DSA"}), "signatureAlgorithm"),
        (json!({"keySize": "1024"}), "keySize"),
        (json!({"keySize": null}), "keySize"),
        (json!({"ellipticCurveName": "P-256"}), "ellipticCurveName"),
        (json!({"hashAlgorithm": "SHA-1"}), "hashAlgorithm"),
        (json!({"signatureAlgorithm": "ECDSA"}), "keySize"),
        (json!({"signatureAlgorithm": "ECDSA", "keySize": ""}), "ellipticCurveName"),
        (
            json!({
                "signatureAlgorithm": "ECDSA", "keySize": "", "ellipticCurveName": "P-384",
                "hashAlgorithm": "SHA-256",
            }),
            "hashAlgorithm",
        ),
        (json!({"signatureAlgorithm": "Ed25519"}), "keySize"),
        (json!({"created": "now"}), "created"),
    ] {
        let mut body = rsa("Web");
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());

        let answer = api.administrator().post(PATH, &body).await;

        assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{changes}");
        assert_eq!(answer.json()["fields"][0]["field"], field, "{changes}");
    }
}

#[tokio::test]
async fn a_name_is_taken_once() {
    let api = api_with_issuer().await;
    let admin = api.administrator();

    let second = admin.post(PATH, &rsa("RSA 2048")).await;
    let renamed = admin.put(&named(&api, "Ed25519").await, &rsa("RSA 2048")).await;

    assert_eq!(second.refusal(), (409, "name_taken".to_owned()));
    assert_eq!(renamed.refusal(), (409, "name_taken".to_owned()));
}

#[tokio::test]
async fn one_that_an_issuer_is_restricted_to_stays_and_its_new_name_reaches_the_issuer() {
    let api = api_with_issuer().await;
    let admin = api.administrator();
    let body = json!({
        "caName": "Narrow", "localCaName": "Chancery Issuing CA",
        "certProfileName": "TLS Server and Client", "allowedGenerators": ["RSA 2048"],
    });
    let issuer = admin.post("/api/admin/ca", &body).await.json();
    let path = named(&api, "RSA 2048").await;

    let deleted = admin.delete(&path).await;
    admin.put(&path, &rsa("Small")).await;

    assert_eq!(deleted.refusal(), (409, "in_use".to_owned()));
    let dependants = json!([{"kind": "ca", "id": issuer["id"], "name": "Narrow"}]);
    assert_eq!(deleted.json()["dependants"], dependants);
    let issuer = admin.get(&format!("/api/admin/ca/{}", issuer["id"].as_str().unwrap())).await;
    assert_eq!(issuer.json()["allowedGenerators"], json!(["Small"]));
}

#[tokio::test]
async fn only_administrators_change_anything() {
    let api = api_with_issuer().await;
    let path = named(&api, "RSA 2048").await;
    let member = api.member();

    for answer in [
        member.post(PATH, &rsa("Mine")).await,
        member.get(&path).await,
        member.put(&path, &rsa("Mine")).await,
        member.delete(&path).await,
    ] {
        assert_eq!(answer.refusal(), (403, "not_administrator".to_owned()));
    }
}

#[tokio::test]
async fn an_issuer_is_never_restricted_to_a_generator_that_goes_in_the_same_moment() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        crate::first_start::run_once(&api.state).await.unwrap();
        let (one, other) = (api.administrator(), api.administrator());
        for number in 0..8 {
            let name = format!("Passing {number}");
            let new = json!({"name": name, "signatureAlgorithm": "RSA", "keySize": "2048"});
            let made = one.post("/api/admin/generators", &new).await.json();
            let path = format!("/api/admin/generators/{}", made["id"].as_str().unwrap());
            let issuer = json!({
                "caName": name, "localCaName": "Chancery Issuing CA",
                "certProfileName": "TLS Server and Client", "allowedGenerators": [name],
            });

            let (issuer, gone) =
                tokio::join!(one.post("/api/admin/ca", &issuer), other.delete(&path));

            let both = (issuer.status.as_u16(), gone.status.as_u16());
            assert!(both == (200, 409) || both == (422, 200), "{engine}: {both:?}");
        }
    }
}
