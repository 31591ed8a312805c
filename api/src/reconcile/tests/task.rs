//! The background task.

use super::scene::scene;
use crate::error::Code;
use crate::readiness::NotReady;
use crate::reconcile;

#[tokio::test]
async fn the_task_reconciles_when_it_starts() {
    let scene = scene().await;
    let signed = scene.sign().await;
    scene.wait(time::Duration::minutes(1));

    let reconciler = reconcile::start(scene.api.state.clone());
    while scene.stored(signed.id()).await.is_none() {
        tokio::task::yield_now().await;
    }

    let ready = scene.api.state.readiness.ask().await;
    assert!(ready.contains(&("reconcile", Ok(()))), "{ready:?}");
    reconciler.stop().await;
}

#[tokio::test]
async fn the_task_stops_at_once_and_lets_the_next_process_in() {
    let scene = scene().await;
    let reconciler = reconcile::start(scene.api.state.clone());
    while scene.api.state.store.known_journals().await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }

    reconciler.stop().await;

    let now = scene.api.state.clock.now();
    assert!(scene.api.state.store.take_lease("reconcile", "other", now, now).await.unwrap());
}

#[tokio::test]
async fn a_broken_journal_makes_the_service_not_ready() {
    let scene = scene().await;
    scene.sign().await;
    scene.api.fake.signer().journal.entries[0].push(' ');

    let reconciler = reconcile::start(scene.api.state.clone());
    let not_ready = loop {
        let parts = scene.api.state.readiness.ask().await;
        let part = parts.into_iter().find(|(part, _)| *part == "reconcile");
        match part {
            Some((_, Err(not_ready))) => break not_ready,
            _ => tokio::task::yield_now().await,
        }
    };

    let message = "entry 2 of the signer's journal does not follow the entry before it";
    assert_eq!(not_ready, NotReady { code: Code::JournalBehind, message: message.to_owned() });
    reconciler.stop().await;
}
