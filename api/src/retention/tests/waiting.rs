//! Restores that wait for the signer's operator.

use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::v1::{ApprovalStatus, KeyState, Pending, Reply};
use serde_json::{Value, json};
use time::Duration;

use super::faults::{enables, once, without_issuer};
use super::scene::Scene;
use crate::retention::purge::{Purged, run_once};
use crate::signer_client::fake_signer::Reaction;

const APPROVAL: ApprovalId = ApprovalId::from_bytes([5; 12]);

/// Scenes with a deleted CA whose restore waits, and its key.
async fn waiting() -> Vec<(Scene, KeyId)> {
    let mut waiting = Vec::new();
    for scene in without_issuer().await {
        let key = scene.key_of(&scene.ca).await;
        scene.delete("localca", &scene.ca).await;
        let pending = Pending { approval_id: APPROVAL };
        once(&scene, enables, Reaction::Reply(Reply::Pending(pending)));
        assert_eq!(scene.restore("localca", &scene.ca).await.refusal().0, 409);
        scene.api.fake.signer().approvals.insert(APPROVAL, ApprovalStatus::Waiting);
        waiting.push((scene, key));
    }
    waiting
}

/// What the operator's word does in the signer.
fn approve(scene: &Scene, key: KeyId) {
    let mut signer = scene.api.fake.signer();
    signer.approvals.insert(APPROVAL, ApprovalStatus::Approved { signature: None });
    signer.keys.iter_mut().find(|it| it.summary.key_id == key).unwrap().summary.state =
        KeyState::Live;
}

async fn status(scene: &Scene) -> Value {
    scene.admin().get("/api/admin/localca/deleted").await.json()[0]["status"].clone()
}

/// Actions on the CA, the newest first.
async fn told(scene: &Scene) -> Vec<String> {
    let path = format!("/api/admin/audit?objectKind=localca&result=ok&objectId={}", scene.ca);
    let entries = scene.admin().get(&path).await.json();
    let action = |entry: &Value| entry["action"].as_str().unwrap().to_owned();
    entries.as_array().unwrap().iter().map(action).collect()
}

#[tokio::test]
async fn a_restore_that_the_operator_must_approve_happens_once_they_have() {
    for (decision, live) in [
        (ApprovalStatus::Approved { signature: None }, 2),
        (ApprovalStatus::Denied, 1),
        (ApprovalStatus::Expired, 1),
    ] {
        for scene in without_issuer().await {
            scene.delete("localca", &scene.ca).await;
            let approval_id = ApprovalId::from_bytes([5; 12]);
            once(&scene, enables, Reaction::Reply(Reply::Pending(Pending { approval_id })));
            let answer = scene.restore("localca", &scene.ca).await;
            assert_eq!(answer.refusal(), (409, "wrong_state".to_owned()));
            scene.api.fake.signer().approvals.insert(approval_id, ApprovalStatus::Waiting);
            scene.resume().await;
            let waiting = scene.admin().get("/api/admin/localca/deleted").await.json();
            assert_eq!(waiting[0]["status"], "restoring");

            scene.api.fake.signer().approvals.insert(approval_id, decision.clone());
            scene.resume().await;

            assert_eq!(scene.names("localca").await.len(), live, "{decision:?}");
            assert!(scene.api.state.store.pending_transitions().await.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn a_waiting_restore_names_its_approval_and_what_ends_it() {
    for (scene, _) in waiting().await {
        for answer in
            [scene.restore("localca", &scene.ca).await, scene.force("localca", &scene.ca).await]
        {
            assert_eq!(answer.refusal(), (409, "wrong_state".to_owned()));
            let said = answer.json()["message"].as_str().unwrap().to_owned();
            for word in
                ["waits for the signer's operator", &APPROVAL.to_string(), "deny", "deleting"]
            {
                assert!(said.contains(word), "{said}");
            }
        }
    }
}

#[tokio::test]
async fn a_deletion_takes_a_waiting_restore_back() {
    for (scene, key) in waiting().await {
        let path = format!("/api/admin/localca/{}", scene.ca);
        scene.api.clock.advance(Duration::HOUR);
        let rehearsed = scene.admin().delete(&format!("{path}?rehearse=true")).await.json();
        assert_eq!(status(&scene).await, "restoring");

        let taken_back = scene.admin().delete(&path).await.json();

        for answer in [&rehearsed, &taken_back] {
            assert_eq!(
                (&answer["outcome"], &answer["key"]),
                (&json!("deleted"), &json!("disabled"))
            );
            assert_eq!(answer["deletedAt"], "2026-11-28T02:00:00.000+00:00", "{answer}");
        }
        assert_eq!(status(&scene).await, "deleted");
        assert_eq!(scene.key(key), KeyState::Disabled);
        assert!(scene.api.state.store.pending_transitions().await.unwrap().is_empty());
        assert_eq!(told(&scene).await[..3], ["delete", "restore waits", "delete"]);
        // The next restore is one of its own.
        assert_eq!(scene.restore("localca", &scene.ca).await.status, 200);
    }
}

#[tokio::test]
async fn an_approval_from_the_purge_moment_on_restores_nothing_and_the_purge_does_its_work() {
    for approved in [true, false] {
        for (scene, key) in waiting().await {
            scene.api.clock.advance(Duration::days(30));
            if approved {
                approve(&scene, key);
            }

            scene.resume().await;

            assert_eq!(
                (status(&scene).await, scene.key(key)),
                (json!("deleted"), KeyState::Disabled)
            );
            assert_eq!(told(&scene).await[..2], ["restore too late", "restore waits"]);
            let purged = run_once(&scene.api.state).await.unwrap();
            assert!(matches!(purged, Purged::Done { removed: 2, left: 0, .. }), "{purged:?}");
            assert_eq!(scene.key(key), KeyState::Destroyed);
        }
    }
}

#[tokio::test]
async fn an_approval_until_the_last_moment_restores_the_ca() {
    for (scene, key) in waiting().await {
        scene.api.clock.advance(Duration::days(30) - Duration::MILLISECOND);
        approve(&scene, key);

        scene.resume().await;

        assert_eq!((scene.names("localca").await.len(), scene.key(key)), (2, KeyState::Live));
        assert_eq!(told(&scene).await[..2], ["restore", "restore waits"]);
    }
}

#[tokio::test]
async fn the_end_of_a_waiting_restore_is_in_the_audit() {
    for (decision, action) in
        [(ApprovalStatus::Denied, "restore denied"), (ApprovalStatus::Expired, "restore expired")]
    {
        for (scene, _) in waiting().await {
            scene.api.fake.signer().approvals.insert(APPROVAL, decision.clone());

            scene.resume().await;

            assert_eq!(told(&scene).await[..2], [action, "restore waits"]);
        }
    }
}
