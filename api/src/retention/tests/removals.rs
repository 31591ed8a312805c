//! What goes for good, what would go, and who may say so.

use chancery_shared::wire::v1::KeyState;
use serde_json::{Value, json};

use super::scene::{Scene, scenes};

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
async fn a_rehearsal_that_is_not_asked_for_clearly_is_refused_and_nothing_is_done() {
    each(async |scene| {
        let store = scene.another_key_store().await;
        for (kind, id) in [("keystores", &store), ("localca", &scene.ca), ("ca", &scene.issuer)] {
            for call in ["", "/force"] {
                for parameter in ["rehearse", "rehearse=", "rehearse=TRUE", "rehearse=1"] {
                    let path = format!("/api/admin/{kind}/{id}{call}?{parameter}");

                    let answer = scene.admin().delete(&path).await;

                    assert_eq!(answer.refusal(), (400, "invalid_request".to_owned()), "{path}");
                    let list = scene.admin().get(&format!("/api/admin/{kind}")).await.text;
                    assert!(list.contains(id), "{path}: {list}");
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn certificates_of_what_goes_along_are_counted() {
    each(async |scene| {
        for _ in 0..2 {
            assert_eq!(scene.issue().await.status, 200);
        }
        scene.delete("ca", &scene.issuer).await;
        scene.delete("localca", &scene.ca).await;
        for (count, path) in [
            // The certificate of the CA below, too.
            (3, format!("localca/{}/force?withDependants=true&rehearse=true", scene.root)),
            (2, format!("localca/{}/force?withDependants=true&rehearse=true", scene.ca)),
            (2, format!("ca/{}/force?rehearse=true", scene.issuer)),
        ] {
            let answer = scene.admin().delete(&format!("/api/admin/{path}")).await.json();

            assert_eq!(answer["unexpiredCertificates"], count, "{path}");
            let warning = answer["warnings"][0].as_str().unwrap();
            assert!(warning.starts_with(&format!("{count} certificates")), "{warning}");
        }
    })
    .await;
}

#[tokio::test]
async fn who_is_told_that_only_deleted_items_stand_in_the_way_is_told_how_to_take_them_along() {
    each(async |scene| {
        scene.delete("ca", &scene.issuer).await;

        let answer = scene.force("localca", &scene.ca).await;

        assert_eq!(answer.refusal(), (409, "in_use".to_owned()));
        assert!(answer.text.contains("?withDependants=true"), "{}", answer.text);
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
