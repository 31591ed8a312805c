//! What is due goes, unless clock or numbers can't be right.

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{KeyState, Request};
use time::Duration;

use super::scene::{Scene, scenes};
use crate::retention::purge::{Purged, run_once};
use crate::signer_client::fake_signer::{Reaction, refusal};

const TEN_MINUTES: Duration = Duration::minutes(10);
pub(super) const DAYS: Duration = Duration::days(30);

async fn purge(scene: &Scene) -> Purged {
    run_once(&scene.api.state).await.unwrap()
}

fn done(removed: usize) -> Purged {
    Purged::Done { removed, left: 0, why: None, keys_left: 0 }
}

pub(super) fn is_paused(purged: &Purged) -> bool {
    matches!(purged, Purged::Paused { .. })
}

pub(super) async fn deleted(change: impl Fn(&mut crate::config::Config)) -> Vec<Scene> {
    let scenes = scenes(change).await;
    for scene in &scenes {
        scene.delete_down_to_the_store().await;
        assert_eq!(scene.delete("keystores", &scene.store).await.status, 200);
    }
    scenes
}

#[tokio::test]
async fn all_that_is_due_goes_at_once_with_the_keys() {
    for scene in deleted(|_| ()).await {
        let keys = [scene.key_of(&scene.ca).await, scene.key_of(&scene.root).await];
        scene.api.clock.advance(DAYS - Duration::MILLISECOND);
        assert_eq!(purge(&scene).await, done(0), "{}", scene.engine);
        scene.api.clock.advance(Duration::MILLISECOND);

        assert_eq!(purge(&scene).await, done(4), "{}", scene.engine);

        assert_eq!(keys.map(|key| scene.key(key)), [KeyState::Destroyed; 2]);
        for list in ["ca/deleted", "localca/deleted", "keystores/deleted"] {
            assert_eq!(scene.names(list).await, Vec::<String>::new(), "{list}");
        }
        assert_eq!(purge(&scene).await, done(0));
    }
}

#[tokio::test]
async fn nothing_goes_in_the_first_ten_minutes() {
    for scene in scenes(|_| ()).await {
        assert_eq!(purge(&scene).await, Purged::NotYet);
        scene.api.clock.advance(TEN_MINUTES);
        assert_eq!(purge(&scene).await, done(0));
    }
}

#[tokio::test]
async fn a_key_that_can_t_be_destroyed_now_is_tried_again() {
    for scene in deleted(|_| ()).await {
        scene.api.clock.advance(DAYS);
        scene.api.fake.script(|request| match request {
            Request::DestroyKey(_) => Reaction::Refuse(refusal(RefusalCode::TokenUnavailable)),
            _ => Reaction::Answer,
        });

        let Purged::Done { removed: 1, left: 3, why: Some(why), .. } = purge(&scene).await else {
            panic!("the issuer alone can go");
        };
        assert!(why.contains("token"), "{why}");
        // Its time is over, whether or not the job got on.
        assert_eq!(scene.restore("localca", &scene.root).await.refusal().1, "wrong_state");
        scene.api.fake.script(|_| Reaction::Answer);
        assert_eq!(purge(&scene).await, done(3));
    }
}

#[tokio::test]
async fn a_clock_that_is_set_pauses_the_purge_until_that_is_confirmed() {
    for (by, engine_scenes) in
        [(DAYS, deleted(|_| ()).await), (-Duration::hours(2), deleted(|_| ()).await)]
    {
        for scene in engine_scenes {
            scene.api.clock.advance(TEN_MINUTES);
            assert_eq!(purge(&scene).await, done(0));
            scene.api.clock.set_on(by);
            assert!(is_paused(&purge(&scene).await), "{by}");

            let path = "/api/admin/status/purge/confirm";
            assert_eq!(scene.api.member().post_text(path, "").await.status, 403);
            let confirmed = scene.admin().post_text(path, "").await;
            assert_eq!(confirmed.status, 200, "{}", confirmed.text);

            let expected = if by == DAYS { 4 } else { 0 };
            assert_eq!(purge(&scene).await, done(expected), "{by}");
        }
    }
}

#[tokio::test]
async fn an_hour_of_drift_is_let_pass() {
    for scene in scenes(|_| ()).await {
        scene.api.clock.advance(TEN_MINUTES);
        purge(&scene).await;
        scene.api.clock.set_on(Duration::HOUR);
        assert_eq!(purge(&scene).await, done(0));
        scene.api.clock.set_on(Duration::MILLISECOND);
        assert!(is_paused(&purge(&scene).await));
    }
}

#[tokio::test]
async fn a_start_far_past_the_newest_known_time_pauses_the_purge() {
    for scene in scenes(|_| ()).await {
        let state = &scene.api.state;
        let known = state.clock.now() - Duration::days(1);
        for (behind, paused) in [(Duration::ZERO, false), (Duration::SECOND, true)] {
            let mut write = state.store.begin().await.unwrap();
            let millis = crate::timestamp::to_millis(known - behind).to_string();
            write.set_fact("purge-newest-time", &millis).await.unwrap();
            write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
            let guard = crate::retention::Guard::new(state.new_id(), &*state.clock);

            let pause = guard.look(state).await.unwrap();

            assert_eq!(pause.is_some(), paused, "{}", scene.engine);
            if paused {
                // It stays so, whatever goes by, until somebody has looked.
                scene.api.clock.advance(Duration::HOUR);
                assert_eq!(guard.look(state).await.unwrap(), pause);
                scene.admin().post_text("/api/admin/status/purge/confirm", "").await;
                assert_eq!(guard.look(state).await.unwrap(), None);
            }
        }
    }
}

#[tokio::test]
async fn processes_whose_days_differ_purge_nothing_while_both_live() {
    for scene in deleted(|_| ()).await {
        scene.api.clock.advance(DAYS);
        let seen = crate::timestamp::to_millis(scene.api.state.clock.now());
        let sql = format!(
            "INSERT INTO api_process (process_id, purge_after_days, seen_at)
             VALUES ('{}', 3, {seen})",
            "b".repeat(24)
        );
        scene.api.state.store.execute_for_test(&sql).await;

        assert!(is_paused(&purge(&scene).await));
        let status = scene.admin().get("/api/admin/status").await.json();
        assert!(status["purge"]["paused"].as_str().unwrap().contains("[3, 30]"), "{status}");
        scene.api.clock.advance(Duration::minutes(66));
        assert_eq!(purge(&scene).await, done(4));
    }
}

#[tokio::test]
async fn the_days_in_force_hold_for_what_was_deleted_before() {
    for scene in deleted(|config| config.purge_after_days = 5).await {
        let purge_at = |list: serde_json::Value| list[0]["purgeAt"].as_str().unwrap().to_owned();
        let list = scene.admin().get("/api/admin/ca/deleted").await.json();
        assert_eq!(purge_at(list), "2026-12-03T02:00:00.000+00:00");
        let before = crate::retention::guard::note_days(&scene.api.state).await.unwrap();
        assert_eq!(before, None);
        scene
            .api
            .state
            .store
            .execute_for_test(
                "UPDATE installation SET value = '30' WHERE name = 'purge-after-days'",
            )
            .await;

        let hastened = crate::retention::guard::note_days(&scene.api.state).await.unwrap();

        let hastened = hastened.unwrap();
        assert_eq!((hastened.items, hastened.from, hastened.to), (4, 30, 5));
        assert_eq!(crate::retention::guard::note_days(&scene.api.state).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_process_is_known_to_the_others_as_soon_as_it_says_so() {
    for scene in scenes(|_| ()).await {
        let other = scene.api.second_process().await;
        let before = scene.api.state.store.api_processes().await.unwrap().len();

        other.purge_guard.announce(&other).await.unwrap();

        let now = scene.api.state.store.api_processes().await.unwrap().len();
        assert_eq!(now, before + 1, "{}", scene.engine);
    }
}
