//! Each row of the table, through the routes.

use chancery_shared::wire::v1::KeyState;
use serde_json::json;
use time::Duration;

use super::scene::{Scene, scenes};

const DAYS: Duration = Duration::days(30);

async fn each(test: impl AsyncFn(Scene)) {
    for scene in scenes(|_| ()).await {
        test(scene).await;
    }
}

#[tokio::test]
async fn a_deleted_item_leaves_the_lists_and_stands_in_that_of_the_deleted_ones() {
    each(async |scene| {
        let answer = scene.delete("ca", &scene.issuer).await;

        assert_eq!(answer.status, 200, "{}", answer.text);
        let item = answer.json();
        assert_eq!(
            (&item["caName"], &item["outcome"]),
            (&json!("Chancery Issuer"), &json!("deleted"))
        );
        assert_eq!(item["purgeAt"], "2026-12-28T02:00:00.000+00:00");
        assert_eq!(scene.names("ca").await, Vec::<String>::new());
        let deleted = scene.admin().get("/api/admin/ca/deleted").await.json();
        let expected = json!([{
            "id": scene.issuer, "name": "Chancery Issuer", "kind": "ca",
            "deletedAt": "2026-11-28T02:00:00.000+00:00", "deletedBy": "admin",
            "purgeAt": "2026-12-28T02:00:00.000+00:00", "caName": "Chancery Issuer",
            "localCaId": scene.ca, "certProfileId": item["certProfileId"],
        }]);
        assert_eq!(deleted, expected, "{}", scene.engine);
        let one = scene.admin().get(&format!("/api/admin/ca/{}", scene.issuer)).await;
        assert_eq!(one.refusal(), (404, "not_found".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn the_latest_deleted_stands_first_and_each_kind_says_what_it_was() {
    each(async |scene| {
        scene.delete("ca", &scene.issuer).await;
        scene.delete("localca", &scene.ca).await;
        scene.api.clock.advance(Duration::SECOND);
        scene.delete("localca", &scene.root).await;
        scene.delete("keystores", &scene.store).await;

        let names = scene.names("localca/deleted").await;
        assert_eq!(names, ["Chancery Root CA", "Chancery Issuing CA"]);
        let cas = scene.admin().get("/api/admin/localca/deleted").await.json();
        assert_eq!(cas[1]["parentLocalCaId"], scene.root);
        assert_eq!(cas[1]["subjectDn"], "CN=Chancery Issuing CA");
        let stores = scene.admin().get("/api/admin/keystores/deleted").await.json();
        assert_eq!(
            (&stores[0]["token"], &stores[0]["keyStoreType"]),
            (&json!("local"), &json!("PKCS11"))
        );
    })
    .await;
}

#[tokio::test]
async fn what_is_in_use_stays_and_the_answer_names_by_what() {
    each(async |scene| {
        for (kind, id, by) in [
            ("keystores", &scene.store, &scene.root),
            ("localca", &scene.root, &scene.ca),
            ("localca", &scene.ca, &scene.issuer),
        ] {
            for answer in [scene.delete(kind, id).await, scene.force(kind, id).await] {
                assert_eq!(answer.refusal(), (409, "in_use".to_owned()));
                let dependants = answer.json()["dependants"].clone();
                let names = dependants.as_array().unwrap();
                assert!(names.iter().any(|it| it["id"] == **by), "{dependants}");
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_deleted_ca_can_t_sign_and_a_restored_one_has_its_key_again() {
    each(async |scene| {
        assert_eq!(scene.issue().await.status, 200);
        let key = scene.key_of(&scene.ca).await;
        scene.delete("ca", &scene.issuer).await;
        let deleted = scene.delete("localca", &scene.ca).await.json();

        assert_eq!(deleted["key"], "disabled");
        assert_eq!(deleted["unexpiredCertificates"], 1, "{deleted}");
        // Of those, and of the service's own certificate.
        assert_eq!(deleted["warnings"].as_array().unwrap().len(), 2, "{deleted}");
        assert_eq!(scene.key(key), KeyState::Disabled);
        assert_eq!(scene.issue().await.refusal(), (422, "unknown_issuer".to_owned()));

        let early = scene.restore("ca", &scene.issuer).await;
        assert_eq!(early.refusal(), (409, "wrong_state".to_owned()));
        assert_eq!(early.json()["dependants"][0]["id"], scene.ca);
        for (kind, id) in [("localca", &scene.ca), ("ca", &scene.issuer)] {
            let restored = scene.restore(kind, id).await;
            assert_eq!(restored.status, 200, "{}", restored.text);
        }
        assert_eq!((scene.key(key), scene.key_of(&scene.ca).await), (KeyState::Live, key));
        assert_eq!(scene.issue().await.status, 200);
        assert_eq!(scene.names("localca/deleted").await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn an_issuer_whose_ca_is_deleted_is_told_so() {
    each(async |scene| {
        scene
            .api
            .state
            .store
            .execute_for_test(
                "UPDATE local_ca SET deleted_at = 5 WHERE name = 'Chancery Issuing CA'",
            )
            .await;

        assert_eq!(scene.issue().await.refusal(), (409, "ca_not_live".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_restore_may_bring_back_what_the_item_stands_on() {
    each(async |scene| {
        scene.delete_down_to_the_store().await;
        scene.delete("keystores", &scene.store).await;
        assert_eq!(scene.restore("localca", &scene.root).await.status, 409);

        let path = format!("/api/admin/ca/restore/{}?withDependencies=true", scene.issuer);
        let answer = scene.admin().post_text(&path, "").await;

        assert_eq!(answer.status, 200, "{}", answer.text);
        assert_eq!(scene.issue().await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_key_store_may_be_restored_before_its_ca_and_not_after() {
    each(async |scene| {
        scene.delete_down_to_the_store().await;
        scene.delete("keystores", &scene.store).await;

        let early = scene.restore("localca", &scene.root).await;
        assert_eq!(early.json()["dependants"][0]["kind"], "keystores");
        assert_eq!(scene.restore("keystores", &scene.store).await.status, 200);
        assert_eq!(scene.restore("localca", &scene.root).await.status, 200);
    })
    .await;
}

#[tokio::test]
async fn a_restore_works_until_the_last_millisecond() {
    each(async |scene| {
        scene.delete("ca", &scene.issuer).await;
        scene.api.clock.advance(DAYS - Duration::MILLISECOND);
        assert_eq!(scene.restore("ca", &scene.issuer).await.status, 200);

        scene.delete("ca", &scene.issuer).await;
        scene.api.clock.advance(DAYS);
        let late = scene.restore("ca", &scene.issuer).await;
        assert_eq!(late.refusal(), (409, "wrong_state".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_deleted_name_is_free_and_a_restore_into_a_taken_one_is_refused() {
    each(async |scene| {
        let profile = scene.delete("ca", &scene.issuer).await.json()["certProfileId"].clone();
        let again = json!({
            "caName": "Chancery Issuer", "localCaId": scene.ca, "certProfileId": profile,
        });
        let again = scene.admin().post("/api/admin/ca", &again).await;
        assert_eq!(again.status, 200, "{}", again.text);

        let refused = scene.restore("ca", &scene.issuer).await;

        assert_eq!(refused.refusal(), (409, "name_taken".to_owned()));
        assert_eq!(refused.json()["dependants"][0]["id"], again.json()["id"]);
    })
    .await;
}

#[tokio::test]
async fn a_ca_made_again_from_the_same_details_has_another_key_and_certificate() {
    each(async |scene| {
        let old = scene.key_of(&scene.ca).await;
        scene.delete("ca", &scene.issuer).await;
        let was = scene.delete("localca", &scene.ca).await.json();
        let body = json!({
            "name": was["name"], "keyStoreId": scene.store, "parentLocalCaId": scene.root,
            "subjectDn": was["subjectDn"], "lifetimeInDays": was["lifetimeInDays"],
            "keyAlgorithm": was["keyAlgorithm"],
        });

        let again = scene.admin().post("/api/admin/localca", &body).await.json();

        assert_ne!(again["caCertificate"], was["caCertificate"]);
        assert_ne!(scene.key_of(again["id"].as_str().unwrap()).await, old);
        let refused = scene.restore("localca", &scene.ca).await;
        assert_eq!(refused.refusal(), (409, "name_taken".to_owned()));
    })
    .await;
}

#[tokio::test]
async fn a_team_shows_no_deleted_issuer_and_may_use_it_again_once_it_is_restored() {
    each(async |scene| {
        let profile = scene.admin().get("/api/admin/profiles").await.json()[0]["id"].clone();
        let issuer = json!({
            "caName": "Ours", "localCaId": scene.ca, "certProfileId": profile, "teams": ["Default"],
        });
        let issuer = scene.admin().post("/api/admin/ca", &issuer).await.json();
        let id = issuer["id"].as_str().unwrap();
        let authorised = async || {
            let path = format!("/api/admin/teams/{}", scene.api.default_team);
            scene.admin().get(&path).await.json()["authorisedCas"].clone()
        };
        assert_eq!(authorised().await, json!([id]));

        scene.delete("ca", id).await;
        assert_eq!(authorised().await, json!([]));
        assert_eq!(scene.restore("ca", id).await.json()["teams"], issuer["teams"]);

        assert_eq!(authorised().await, json!([id]));
    })
    .await;
}
