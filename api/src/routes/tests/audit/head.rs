//! A HEAD takes nothing away, so it is told as nothing but a refusal.

use axum::body::Body;
use axum::http::Method;
use serde_json::{Value, json};

use super::super::certs::ISSUER;
use super::audit;
use crate::testing::{Answer, Api, Persona, api_with_issuer};

/// Ends a session, by whichever method.
const LOGOUT: &str = "/api/logouthere";

async fn head(persona: &Persona, path: &str) -> Answer {
    persona.send(persona.request(Method::HEAD, path).body(Body::empty()).unwrap()).await
}

/// A certificate of the member's whose private key is kept.
async fn with_key(api: &Api) -> String {
    let dn = json!({
        "caName": ISSUER, "dn": "CN=www.example.test", "csrGeneratorName": "ECDSA P-256",
        "p12Password": "open sesame", "teamName": "Default",
    });
    let issued = api.member().post("/api/certs/request", &dn).await.json();
    issued["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_head_that_succeeds_is_told_of_no_operation() {
    let api = api_with_issuer().await;
    let id = with_key(&api).await;
    let document = api.anonymous().get("/api/openapi.json").await.json();
    let before = audit(&api, "result=ok").await;
    let mut succeeded = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        if item["get"].is_object() && path != LOGOUT {
            for persona in [api.member(), api.administrator()] {
                let answer = head(&persona, &path.replace("{id}", &id)).await;
                succeeded.extend((answer.status == 200).then_some(path.as_str()));
            }
        }
    }

    let after = audit(&api, "result=ok").await;

    for form in ["p12", "jks", "pem", "cer"] {
        let path = format!("/api/certs/{{id}}/{form}");
        assert!(succeeded.contains(&path.as_str()), "{path} of {succeeded:?}");
    }
    assert_eq!(after, before);
}

#[tokio::test]
async fn a_head_of_another_users_key_is_told_as_a_refused_reading() {
    let api = api_with_issuer().await;
    let id = with_key(&api).await;
    for form in ["p12", "jks", "pem"] {
        assert_eq!(
            head(&api.administrator(), &format!("/api/certs/{id}/{form}")).await.status,
            403
        );
    }

    let told = audit(&api, "result=not_permitted").await;

    let total: u64 = told.iter().map(|entry| entry["times"].as_u64().unwrap()).sum();
    assert_eq!(total, 3, "{told:?}");
    for entry in told {
        let found = ["action", "objectKind", "objectId"].map(|field| entry[field].clone());
        assert_eq!(Value::from(found.to_vec()), json!(["read", "certs", id]));
    }
}
