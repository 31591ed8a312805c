//! What can't be purged now keeps nothing else waiting, and a clock that is set stops a run.

use std::sync::Arc;

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::Request;
use serde_json::json;
use time::Duration;

use super::purge::{DAYS, deleted};
use crate::retention::purge::{Purged, run_batch};
use crate::signer_client::fake_signer::{Reaction, refusal};

#[tokio::test]
async fn what_fails_is_tried_after_what_was_not_tried() {
    for scene in deleted(|_| ()).await {
        let other = json!({"name": "Other", "token": "local"});
        let other = scene.admin().post("/api/admin/keystores", &other).await;
        assert_eq!(other.status, 200, "{}", other.text);
        let other = other.json()["id"].as_str().unwrap().to_owned();
        assert_eq!(scene.delete("keystores", &other).await.status, 200);
        scene.api.clock.advance(DAYS);
        scene.api.fake.script(|request| match request {
            Request::DestroyKey(_) => Reaction::Refuse(refusal(RefusalCode::TokenUnavailable)),
            _ => Reaction::Answer,
        });

        // What is tried before what stands on it would only hide why it stays.
        let Purged::Done { left: 3, why: Some(why), .. } =
            run_batch(&scene.api.state, 5).await.unwrap()
        else {
            panic!("{}", scene.engine);
        };
        assert!(why.contains("token"), "{why}");
        // One at a time: the issuer goes, its CA fails, and what it stands on with it.
        for _ in 0..5 {
            run_batch(&scene.api.state, 1).await.unwrap();
        }

        assert_eq!(scene.names("ca/deleted").await, Vec::<String>::new(), "{}", scene.engine);
        assert_eq!(scene.names("localca/deleted").await.len(), 2, "{}", scene.engine);
        assert_eq!(scene.names("keystores/deleted").await, ["Local Token"], "{}", scene.engine);
        scene.api.fake.script(|_| Reaction::Answer);
        for _ in 0..6 {
            run_batch(&scene.api.state, 1).await.unwrap();
        }
        assert_eq!(scene.names("keystores/deleted").await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_clock_that_is_set_in_the_middle_of_a_run_keeps_what_is_left() {
    for scene in deleted(|_| ()).await {
        scene.api.clock.advance(DAYS);
        let clock = Arc::clone(&scene.api.clock);
        scene.api.fake.script(move |request| {
            if matches!(request, Request::DestroyKey(_)) {
                clock.set_on(Duration::hours(2));
            }
            Reaction::Answer
        });

        let Purged::Paused { removed: 2, .. } = run_batch(&scene.api.state, 50).await.unwrap()
        else {
            panic!("the issuer and the CA whose key is destroyed at that time");
        };

        assert_eq!(scene.names("localca/deleted").await, ["Chancery Root CA"], "{}", scene.engine);
        assert_eq!(scene.names("keystores/deleted").await.len(), 1, "{}", scene.engine);
    }
}
