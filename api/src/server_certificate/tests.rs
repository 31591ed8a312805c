//! The issuer of the service's own certificate: missed before it goes, and named where it is gone.

use serde_json::{Value, json};

use super::{TlsFiles, issuer, not_ready, renew};
use crate::error::Code;
use crate::listener::ServerIdentity;
use crate::retention::tests::scene::{Scene, scenes};

async fn warns(scene: &Scene, path: &str) -> bool {
    let answer = scene.admin().delete(&format!("/api/admin/{path}")).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    let warnings = answer.json()["warnings"].clone();
    let is_about_https = |text: &Value| text.as_str().unwrap().contains("HTTPS certificate");
    warnings.as_array().unwrap().iter().any(is_about_https)
}

#[tokio::test]
async fn whoever_deletes_what_issues_the_https_certificate_is_warned() {
    for scene in scenes(|_| ()).await {
        let ways = [
            ("ca", &scene.issuer),
            ("localca", &scene.ca),
            ("localca", &scene.root),
            ("keystores", &scene.store),
        ];
        for (kind, id) in ways {
            for way in ["?rehearse=true", ""] {
                assert!(warns(&scene, &format!("{kind}/{id}{way}")).await, "{kind} {way}");
            }
        }
    }
}

#[tokio::test]
async fn nobody_is_warned_of_an_issuer_that_has_a_successor_or_another_name() {
    for scene in scenes(|_| ()).await {
        let profile = scene.admin().get("/api/admin/profiles").await.json()[0]["id"].clone();
        let make = async |name: &str| {
            let body = json!({"caName": name, "localCaId": scene.ca, "certProfileId": profile});
            let made = scene.admin().post("/api/admin/ca", &body).await;
            assert_eq!(made.status, 200, "{}", made.text);
            made.json()["id"].as_str().unwrap().to_owned()
        };
        let other = make("Other").await;
        assert!(!warns(&scene, &format!("ca/{other}")).await);
        scene.delete("ca", &scene.issuer).await;
        make("Chancery Issuer").await;

        assert!(!warns(&scene, &format!("ca/{}/force", scene.issuer)).await);
    }
}

#[tokio::test]
async fn without_its_issuer_the_service_says_why_it_has_no_certificate() {
    for scene in scenes(|_| ()).await {
        let state = &scene.api.state;
        scene.delete("ca", &scene.issuer).await;
        let identity = ServerIdentity::temporary(&*state.clock, &*state.random).unwrap();
        let files = TlsFiles::below(&state.config.home);

        let refused = renew(state, &identity, &files).await.unwrap_err();

        let reason = not_ready(&refused);
        assert_eq!(reason.code, Code::UnknownIssuer);
        assert!(
            reason.message.contains("no live Certificate Issuer Chancery Issuer"),
            "{reason:?}"
        );
        assert!(issuer::find(state).await.is_err());
    }
}
