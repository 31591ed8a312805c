//! The signer refuses, is away, or does it and can't say so: each transition ends in a state of the
//! table.

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{KeyState, Request};
use time::Duration;

use super::scene::{Scene, scenes};
use crate::signer_client::SignerState;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::testing::Answer;

/// What the signer does with the first request that `is_meant` finds.
pub(super) fn once(scene: &Scene, is_meant: fn(&Request) -> bool, reaction: Reaction) {
    let mut left = Some(reaction);
    scene.api.fake.script(move |request| {
        if is_meant(request) { left.take().unwrap_or(Reaction::Answer) } else { Reaction::Answer }
    });
}

fn disables(request: &Request) -> bool {
    matches!(request, Request::DisableKey(_))
}

pub(super) fn enables(request: &Request) -> bool {
    matches!(request, Request::EnableKey(_))
}

fn destroys(request: &Request) -> bool {
    matches!(request, Request::DestroyKey(_))
}

fn away() -> Reaction {
    Reaction::Refuse(refusal(RefusalCode::TokenUnavailable))
}

/// Past any claim.
fn later(scene: &Scene) {
    scene.api.clock.advance(Duration::minutes(3));
}

pub(super) async fn without_issuer() -> Vec<Scene> {
    let scenes = scenes(|_| ()).await;
    for scene in &scenes {
        scene.delete("ca", &scene.issuer).await;
    }
    scenes
}

#[tokio::test]
async fn a_refused_key_change_leaves_everything_as_it_was() {
    for scene in without_issuer().await {
        let key = scene.key_of(&scene.ca).await;

        once(&scene, disables, away());
        assert_eq!(scene.delete("localca", &scene.ca).await.status, 503);
        once(&scene, destroys, away());
        assert_eq!(scene.force_all("localca", &scene.ca).await.status, 503);
        assert_eq!((scene.key(key), scene.names("localca").await.len()), (KeyState::Live, 2));

        scene.delete("localca", &scene.ca).await;
        once(&scene, enables, away());
        assert_eq!(scene.restore("localca", &scene.ca).await.status, 503);
        once(&scene, destroys, away());
        assert_eq!(scene.force_all("localca", &scene.ca).await.status, 503);
        assert_eq!(scene.key(key), KeyState::Disabled);
        assert_eq!(scene.restore("localca", &scene.ca).await.status, 200);
        assert!(scene.api.state.store.pending_transitions().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn without_a_signer_nothing_changes() {
    for mut scene in without_issuer().await {
        scene.api.fake.stop().await;
        let mut signer = scene.api.state.signer.watch_state();
        signer.wait_for(|signer| !signer.is_reachable()).await.unwrap();

        for answer in
            [scene.delete("localca", &scene.ca).await, scene.force_all("localca", &scene.ca).await]
        {
            assert_eq!(answer.refusal(), (503, "signer_unavailable".to_owned()));
        }
        assert_eq!(scene.names("localca").await.len(), 2);
        assert_eq!(scene.names("localca/deleted").await.len(), 0);
        // What needs no key goes on.
        assert_eq!(scene.restore("ca", &scene.issuer).await.status, 200);
    }
}

#[tokio::test]
async fn what_stops_in_the_middle_says_what_is_done_and_what_is_left() {
    for (is_lost, code) in [(false, "partly_done"), (true, "outcome_unknown")] {
        let reaction = || if is_lost { Reaction::DoAndClose } else { away() };
        for scene in without_issuer().await {
            let names = |answer: &Answer| -> Vec<String> {
                let left = answer.json()["dependants"].as_array().cloned().unwrap();
                left.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
            };
            assert_eq!(scene.delete("localca", &scene.ca).await.status, 200);
            assert_eq!(scene.delete("localca", &scene.root).await.status, 200);
            assert_eq!(scene.delete("keystores", &scene.store).await.status, 200);
            let path = format!("/api/admin/ca/restore/{}?withDependencies=true", scene.issuer);

            once(&scene, enables, reaction());
            let restored = scene.admin().post_text(&path, "").await;

            assert_eq!(restored.refusal(), (503, code.to_owned()), "{}", restored.text);
            assert!(restored.text.contains("live again by now: the Key Store Local Token"));
            let left = ["Chancery Root CA", "Chancery Issuing CA", "Chancery Issuer"];
            assert_eq!(names(&restored), left);
            scene.api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
            scene.resume().await;
            assert_eq!(scene.admin().post_text(&path, "").await.status, 200);

            assert_eq!(scene.delete("ca", &scene.issuer).await.status, 200);
            once(&scene, destroys, reaction());
            let removed = scene.force_all("localca", &scene.ca).await;

            assert_eq!(removed.refusal(), (503, code.to_owned()), "{}", removed.text);
            assert!(removed.text.contains("by now: the Certificate Issuer Chancery Issuer"));
            assert_eq!(names(&removed), ["Chancery Issuing CA"]);
        }
    }
}

#[tokio::test]
async fn a_deletion_whose_answer_was_lost_is_finished() {
    for scene in without_issuer().await {
        once(&scene, disables, Reaction::DoAndClose);
        let answer = scene.delete("localca", &scene.ca).await;
        assert_eq!(answer.refusal(), (503, "outcome_unknown".to_owned()));
        let busy = scene.delete("localca", &scene.ca).await;
        assert_eq!(busy.refusal(), (409, "wrong_state".to_owned()));

        scene.api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
        scene.resume().await;

        assert_eq!(scene.names("localca/deleted").await, ["Chancery Issuing CA"]);
        assert_eq!(scene.restore("localca", &scene.ca).await.status, 200);
    }
}

#[tokio::test]
async fn a_restore_whose_answer_was_lost_is_finished() {
    for scene in without_issuer().await {
        let key = scene.key_of(&scene.ca).await;
        scene.delete("localca", &scene.ca).await;
        once(&scene, enables, Reaction::DoAndClose);
        let answer = scene.restore("localca", &scene.ca).await;
        assert_eq!(answer.refusal(), (503, "outcome_unknown".to_owned()));

        scene.api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
        scene.resume().await;

        assert_eq!((scene.key(key), scene.names("localca").await.len()), (KeyState::Live, 2));
    }
}

#[tokio::test]
async fn a_removal_whose_answer_was_lost_is_finished() {
    for scene in without_issuer().await {
        let key = scene.key_of(&scene.ca).await;
        once(&scene, destroys, Reaction::DoAndClose);
        let answer = scene.force_all("localca", &scene.ca).await;
        assert_eq!(answer.refusal(), (503, "outcome_unknown".to_owned()));

        scene.api.state.signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
        scene.resume().await;

        assert_eq!(scene.key(key), KeyState::Destroyed);
        assert_eq!(scene.names("localca").await, ["Chancery Root CA"]);
        assert_eq!(scene.names("localca/deleted").await.len(), 0);
    }
}

#[tokio::test]
async fn work_that_somebody_still_does_is_left_to_them() {
    for scene in without_issuer().await {
        // As a process leaves it that was killed after the mark.
        let sql = format!(
            "UPDATE local_ca SET transition = 'deleting', claimed_by = '{0}',
                    transition_by = '{{\"userId\":null,\"username\":\"admin\",\"requestId\":\"r\"}}',
                    claimed_until = {1} WHERE local_ca_id = '{2}'",
            "a".repeat(24),
            crate::timestamp::to_millis(scene.api.state.clock.now()) + 60_000,
            scene.ca,
        );
        scene.api.state.store.execute_for_test(&sql).await;

        scene.resume().await;
        assert_eq!(scene.names("localca/deleted").await.len(), 0, "{}", scene.engine);
        later(&scene);
        scene.resume().await;
        assert_eq!(scene.names("localca/deleted").await.len(), 1, "{}", scene.engine);
    }
}

#[tokio::test]
async fn a_ca_whose_key_is_destroyed_can_t_be_restored_and_stays_deleted() {
    for scene in without_issuer().await {
        scene.delete("localca", &scene.ca).await;
        once(&scene, enables, Reaction::Refuse(refusal(RefusalCode::KeyState)));

        let answer = scene.restore("localca", &scene.ca).await;

        assert_eq!(answer.refusal(), (409, "ca_not_live".to_owned()));
        assert_eq!(scene.names("localca/deleted").await.len(), 1);
    }
}
