//! The end of a key that waits for the signer's operator.

use chancery_shared::wire::v1::KeyState;
use serde_json::{Value, json};
use time::Duration;

use super::agreement::seen;
use super::faults::without_issuer;
use super::scene::Scene;
use crate::retention::purge::run_once;
use crate::signer_client::SignerState;

/// Scenes whose operator decides on each destruction of a key.
async fn with_approved_destroys() -> Vec<Scene> {
    let scenes = without_issuer().await;
    for scene in &scenes {
        scene.api.fake.signer().approve_destroys = true;
        let mut signer = scene.api.state.signer.watch_state();
        signer.wait_for(SignerState::destroy_awaits_operator).await.unwrap();
    }
    scenes
}

fn warnings(answer: &Value) -> Vec<&str> {
    answer["warnings"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_key_whose_end_the_operator_must_approve_stays_disabled_and_the_answer_says_so() {
    for scene in with_approved_destroys().await {
        let key = scene.key_of(&scene.ca).await;
        let path = format!("/api/admin/localca/{}/force?withDependants=true", scene.ca);
        let rehearsed = scene.admin().delete(&format!("{path}&rehearse=true")).await.json();
        assert_eq!(scene.key(key), KeyState::Live);

        let gone = scene.admin().delete(&path).await.json();

        let approval = *scene.api.fake.signer().approvals.keys().next().unwrap();
        let waits = "the key of the Local CA Chancery Issuing CA is not destroyed but disabled: it \
                     stays in the token until the signer's operator lets it be destroyed";
        let told = [
            (&rehearsed, waits.to_owned()),
            (&gone, format!("{waits}: chancery-hsm approve {approval}")),
        ];
        for (answer, warning) in told {
            assert_eq!((&answer["outcome"], &answer["key"]), (&json!("gone"), &json!("disabled")));
            assert!(warnings(answer).contains(&&*warning), "{answer}");
        }
        assert_eq!(scene.key(key), KeyState::Disabled);
        assert_eq!(scene.names("localca").await, ["Chancery Root CA"]);
        let status = scene.admin().get("/api/admin/status").await.json();
        assert_eq!(status["keys"]["withoutLocalCa"][0]["keyId"], key.to_string());
        let audit =
            scene.admin().get("/api/admin/audit?action=delete%20force&objectKind=localca").await;
        let told = audit.json()[0]["after"].clone();
        assert_eq!(told, json!({"key": "disabled", "awaitsApproval": approval}));
    }
}

#[tokio::test]
async fn every_key_that_stays_is_named_whatever_takes_its_ca_along() {
    for scene in with_approved_destroys().await {
        scene.delete("localca", &scene.ca).await;
        scene.delete("localca", &scene.root).await;
        let path = format!("/api/admin/keystores/{}/force?withDependants=true", scene.store);
        let rehearsed = scene.admin().delete(&format!("{path}&rehearse=true")).await.json();

        let gone = scene.admin().delete(&path).await.json();

        for answer in [&rehearsed, &gone] {
            assert_eq!(answer["key"], Value::Null);
            for name in ["Chancery Root CA", "Chancery Issuing CA"] {
                let begin = format!("the key of the Local CA {name} is not destroyed");
                assert!(warnings(answer).iter().any(|text| text.starts_with(&begin)), "{answer}");
            }
        }
    }
}

#[tokio::test]
async fn a_purge_says_how_many_keys_stay() {
    for scene in with_approved_destroys().await {
        scene.delete("localca", &scene.ca).await;
        scene.api.clock.advance(Duration::days(30));

        let purged = run_once(&scene.api.state).await.unwrap();

        let said = "2 items purged; 1 of their keys stay disabled in the token until the signer's \
                    operator decides (chancery-hsm pending)";
        assert_eq!(crate::retention::purge::told(Ok(purged)), Some(Ok(said.to_owned())));
    }
}

#[tokio::test]
async fn a_key_that_the_operator_did_not_let_go_is_asked_for_again_by_its_repair() {
    for scene in with_approved_destroys().await {
        let key = scene.key_of(&scene.ca).await;
        assert_eq!(scene.force_all("localca", &scene.ca).await.status, 200);
        let path = format!("/api/admin/status/keys/{key}/repair");
        seen(&scene, key, KeyState::Disabled).await;
        let denied = *scene.api.fake.signer().approvals.keys().next().unwrap();
        scene.api.fake.signer().approvals.clear();

        let asked = scene.admin().post_text(&path, "").await.json();

        let approval = *scene.api.fake.signer().approvals.keys().next().unwrap();
        assert_ne!(approval, denied);
        let warning = format!(
            "the key stays in the token, disabled, until the signer's operator lets it be destroyed: \
             chancery-hsm approve {approval}"
        );
        assert_eq!(asked, json!({"key": "disabled", "warnings": [warning]}));
        assert_eq!(scene.key(key), KeyState::Disabled);

        scene.api.fake.signer().approve_destroys = false;
        let gone = scene.admin().post_text(&path, "").await.json();
        assert_eq!(gone, json!({"key": "destroyed", "warnings": []}));
        assert_eq!(scene.key(key), KeyState::Destroyed);
        seen(&scene, key, KeyState::Destroyed).await;
        assert_eq!(scene.admin().post_text(&path, "").await.refusal().0, 404);
    }
}

#[tokio::test]
async fn a_live_key_without_a_ca_is_only_disabled_before_it_is_destroyed() {
    for scene in without_issuer().await {
        let key = scene.key_of(&scene.ca).await;
        let sql = format!(
            "UPDATE local_ca SET key_id = '{}' WHERE local_ca_id = '{}'",
            "e".repeat(24),
            scene.ca
        );
        scene.api.state.store.execute_for_test(&sql).await;
        let path = format!("/api/admin/status/keys/{key}/repair");

        let disabled = scene.admin().post_text(&path, "").await.json();

        assert_eq!(disabled["key"], "disabled");
        let again = "no Local CA has this key; the same call again has it destroyed in the token";
        assert_eq!(warnings(&disabled), [again]);
        assert_eq!(scene.key(key), KeyState::Disabled);
    }
}
