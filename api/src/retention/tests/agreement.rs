//! Keys and Local CAs that do not fit, shown and repaired; and the rest of `/admin/status`.

use chancery_shared::wire::v1::KeyState;
use serde_json::{Value, json};

use super::scene::{Scene, scenes};
use crate::signer_client::SignerState;

async fn keys(scene: &Scene) -> Value {
    scene.admin().get("/api/admin/status").await.json()["keys"].clone()
}

/// Waits until the service sees the key so.
pub(super) async fn seen(scene: &Scene, key: chancery_shared::id::KeyId, state: KeyState) {
    let is_seen = |signer: &SignerState| signer.key(key).is_some_and(|found| found.state == state);
    scene.api.state.signer.watch_state().wait_for(is_seen).await.unwrap();
}

#[tokio::test]
async fn a_key_that_does_not_fit_its_ca_is_shown_and_made_to_fit() {
    for scene in scenes(|_| ()).await {
        scene.delete("ca", &scene.issuer).await;
        let key = scene.key_of(&scene.ca).await;
        assert_eq!(
            keys(&scene).await,
            json!({"withoutLocalCa": [], "withoutKey": [], "disagreeing": []})
        );
        let sql = format!("UPDATE local_ca SET deleted_at = 5 WHERE local_ca_id = '{}'", scene.ca);
        scene.api.state.store.execute_for_test(&sql).await;

        let shown = keys(&scene).await["disagreeing"].clone();
        let expected = json!([{
            "keyId": key.to_string(), "token": "local", "state": "live", "localCaId": scene.ca,
            "localCaName": "Chancery Issuing CA",
        }]);
        assert_eq!(shown, expected);
        let path = format!("/api/admin/status/keys/{key}/repair");
        assert_eq!(scene.api.member().post_text(&path, "").await.status, 403);
        assert_eq!(scene.admin().post_text(&path, "").await.status, 200);

        assert_eq!(scene.key(key), KeyState::Disabled);
        seen(&scene, key, KeyState::Disabled).await;
        assert_eq!(keys(&scene).await["disagreeing"], json!([]));
        assert_eq!(scene.admin().post_text(&path, "").await.refusal().0, 404);
    }
}

#[tokio::test]
async fn keys_without_a_ca_and_cas_without_a_key_are_shown() {
    for scene in scenes(|_| ()).await {
        scene.delete("ca", &scene.issuer).await;
        let key = scene.key_of(&scene.ca).await;
        let other = "e".repeat(24);
        let sql =
            format!("UPDATE local_ca SET key_id = '{other}' WHERE local_ca_id = '{}'", scene.ca);
        scene.api.state.store.execute_for_test(&sql).await;

        let shown = keys(&scene).await;

        assert_eq!(shown["withoutLocalCa"][0]["keyId"], key.to_string(), "{shown}");
        assert_eq!(shown["withoutKey"][0]["localCaId"], scene.ca, "{shown}");
        let repair = async |key: &str| {
            let path = format!("/api/admin/status/keys/{key}/repair");
            scene.admin().post_text(&path, "").await.status.as_u16()
        };
        assert_eq!(repair(&other).await, 503);
        assert_eq!(repair(&key.to_string()).await, 200);
        assert_eq!(scene.key(key), KeyState::Disabled);
        let told = scene.admin().get("/api/admin/audit?action=repair&result=ok").await.json();
        let [told] = &told.as_array().unwrap()[..] else { panic!("{told}") };
        assert_eq!((&told["objectId"], &told["username"]), (&json!(key), &json!("admin")));
        let states = (&told["before"]["state"], &told["after"]["wantedState"]);
        assert_eq!(states, (&json!("live"), &json!("disabled")));
        // What has no key can still be removed.
        assert_eq!(scene.force_all("localca", &scene.ca).await.status, 200);
    }
}

#[tokio::test]
async fn a_ca_whose_key_its_token_lacks_is_shown_without_a_key_and_the_service_goes_on() {
    for scene in scenes(|_| ()).await {
        let key = scene.key_of(&scene.ca).await;
        scene.api.state.watch_signer();
        assert_eq!(scene.api.anonymous().get("/health/ready").await.status, 200);
        let set_missing = async |is_missing: bool| {
            let keys = &mut scene.api.fake.signer().keys;
            keys.iter_mut().find(|it| it.summary.key_id == key).unwrap().summary.is_missing =
                is_missing;
        };
        let is_seen = async |is_missing: bool| {
            let mut signer = scene.api.state.signer.watch_state();
            let is_so = |signer: &SignerState| {
                signer.key(key).is_some_and(|found| found.is_missing == is_missing)
            };
            signer.wait_for(is_so).await.unwrap();
        };

        set_missing(true).await;
        is_seen(true).await;

        let shown = keys(&scene).await;
        assert_eq!(shown["withoutKey"][0]["localCaId"], scene.ca, "{shown}");
        assert_eq!(shown["withoutKey"].as_array().unwrap().len(), 1, "{shown}");
        let path = format!("/api/admin/status/keys/{key}/repair");
        assert_eq!(
            scene.admin().post_text(&path, "").await.refusal(),
            (503, "key_gone".to_owned())
        );
        // The other CAs can sign.
        assert_eq!(scene.api.anonymous().get("/health/ready").await.status, 200);

        set_missing(false).await;
        is_seen(false).await;
        assert_eq!(keys(&scene).await["withoutKey"], json!([]));
    }
}

#[tokio::test]
async fn the_status_says_how_everything_is() {
    for mut scene in scenes(|_| ()).await {
        scene.delete("ca", &scene.issuer).await;
        crate::job_runs::keep(
            &scene.api.state,
            "purge",
            std::time::Duration::from_mins(1),
            Ok("2 items purged".to_owned()),
        )
        .await;

        let status = scene.admin().get("/api/admin/status").await.json();

        assert_eq!(status["database"], json!({"engine": scene.engine, "status": "ok"}));
        assert_eq!(status["signer"]["status"], "ok");
        assert_eq!(status["tokens"][0]["name"], "local");
        assert_eq!(
            status["jobs"][0],
            json!({
                "name": "purge", "lastRun": "2026-11-28T02:00:00.000+00:00",
                "nextRun": "2026-11-28T02:01:00.000+00:00", "ok": true, "result": "2 items purged",
            })
        );
        assert_eq!(
            status["purge"],
            json!({
                "afterDays": 30, "paused": null, "deletedItems": 1,
                "nextPurgeAt": "2026-12-28T02:00:00.000+00:00", "hastened": null,
            })
        );
        scene.api.fake.stop().await;
        let mut signer = scene.api.state.signer.watch_state();
        signer.wait_for(|signer| !signer.is_reachable()).await.unwrap();
        let without = scene.admin().get("/api/admin/status").await.json();
        assert_ne!(without["signer"]["status"], "ok");
        assert_eq!(scene.api.member().get("/api/admin/status").await.status, 403);
    }
}
