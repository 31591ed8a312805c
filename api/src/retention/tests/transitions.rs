//! Each row of the table, through the routes.

use chancery_shared::wire::v1::KeyState;
use serde_json::{Value, json};
use time::Duration;

use super::scene::{Scene, scenes};

const DAYS: Duration = Duration::days(30);

async fn each(test: impl AsyncFn(Scene)) {
    for scene in scenes(|_| ()).await {
        test(scene).await;
    }
}

async fn each_without_retention(test: impl AsyncFn(Scene)) {
    for scene in scenes(|config| config.purge_after_days = 0).await {
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
        assert_eq!(deleted["warnings"].as_array().unwrap().len(), 1);
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
async fn what_is_removed_for_good_is_gone_with_its_key() {
    each(async |scene| {
        let key = scene.key_of(&scene.ca).await;
        scene.force("ca", &scene.issuer).await;
        let gone = scene.force("localca", &scene.ca).await;

        assert_eq!(gone.status, 200, "{}", gone.text);
        assert_eq!(
            (&gone.json()["outcome"], &gone.json()["key"]),
            (&json!("gone"), &json!("destroyed"))
        );
        assert_eq!(scene.key(key), KeyState::Destroyed);
        for path in ["localca/deleted", "ca/deleted", "ca"] {
            assert_eq!(scene.names(path).await, Vec::<String>::new(), "{path}");
        }
        for (kind, id) in [("localca", &scene.ca), ("ca", &scene.issuer)] {
            assert_eq!(scene.restore(kind, id).await.refusal(), (404, "not_found".to_owned()));
            assert_eq!(scene.force(kind, id).await.refusal(), (404, "not_found".to_owned()));
        }
    })
    .await;
}

#[tokio::test]
async fn a_removal_may_take_deleted_dependants_along() {
    each(async |scene| {
        let key = scene.key_of(&scene.root).await;
        scene.delete_down_to_the_store().await;
        assert_eq!(scene.force("keystores", &scene.store).await.refusal().1, "in_use");

        let path = format!("/api/admin/keystores/{}/force?withDependants=true", scene.store);
        let gone = scene.admin().delete(&path).await;

        assert_eq!(gone.status, 200, "{}", gone.text);
        assert_eq!(gone.json()["dependants"].as_array().unwrap().len(), 3);
        assert_eq!(scene.key(key), KeyState::Destroyed);
        assert_eq!(scene.names("keystores").await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn without_retention_a_delete_is_for_good() {
    each_without_retention(async |scene| {
        let key = scene.key_of(&scene.ca).await;
        let issuer = scene.delete("ca", &scene.issuer).await.json();
        assert_eq!((&issuer["outcome"], &issuer["purgeAt"]), (&json!("gone"), &Value::Null));
        assert_eq!(scene.delete("localca", &scene.ca).await.status, 200);

        assert_eq!(scene.key(key), KeyState::Destroyed);
        assert_eq!(scene.restore("localca", &scene.ca).await.status, 404);
    })
    .await;
}

#[tokio::test]
async fn a_rehearsal_says_what_would_be_and_changes_nothing() {
    each(async |scene| {
        let path = format!("/api/admin/localca/{}?rehearse=true", scene.ca);
        assert_eq!(scene.admin().delete(&path).await.refusal(), (409, "in_use".to_owned()));
        scene.delete("ca", &scene.issuer).await;
        let key = scene.key_of(&scene.ca).await;

        let rehearsed = scene.admin().delete(&path).await.json();

        assert_eq!(
            (&rehearsed["rehearsal"], &rehearsed["outcome"]),
            (&json!(true), &json!("deleted"))
        );
        assert_eq!(rehearsed["purgeAt"], "2026-12-28T02:00:00.000+00:00");
        assert_eq!(rehearsed["dependants"][0]["id"], scene.issuer);
        assert_eq!(scene.key(key), KeyState::Live);
        assert_eq!(scene.names("localca/deleted").await, Vec::<String>::new());
        let path =
            format!("/api/admin/localca/{}/force?rehearse=true&withDependants=true", scene.ca);
        assert_eq!(scene.admin().delete(&path).await.json()["key"], "destroyed");
        assert_eq!(scene.names("localca").await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn each_call_is_for_administrators_and_ids_that_fit_the_state() {
    each(async |scene| {
        let (live, none) = (&scene.issuer, "f".repeat(24));
        assert_eq!(scene.restore("ca", live).await.refusal(), (409, "wrong_state".to_owned()));
        scene.delete("ca", live).await;
        assert_eq!(scene.delete("ca", live).await.refusal(), (409, "wrong_state".to_owned()));
        for id in [none.as_str(), "x", &scene.ca] {
            assert_eq!(scene.restore("ca", id).await.status, 404, "{id}");
            assert_eq!(scene.delete("ca", id).await.status, 404, "{id}");
        }
        let odd = format!("/api/admin/ca/{live}/force?withDependents=true");
        assert_eq!(scene.admin().delete(&odd).await.refusal(), (400, "invalid_request".to_owned()));
        let member = scene.api.member();
        let path = format!("/api/admin/ca/restore/{live}");
        assert_eq!(member.post_text(&path, "").await.status, 403);
        assert_eq!(member.get("/api/admin/ca/deleted").await.status, 403);
        assert_eq!(scene.api.anonymous().post_text(&path, "").await.status, 401);
    })
    .await;
}
