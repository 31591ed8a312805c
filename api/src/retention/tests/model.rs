//! A model of all items beside the service: whatever is asked of both, they never differ.
//!
//! `CHANCERY_MODEL_STEPS` says how many steps are taken, half of them on each database; 500 where it
//! is not set.

mod faulty;
mod steps;
mod things;

use std::sync::Arc;

use chancery_shared::wire::v1::KeyState;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::scene::{Scene, on_engine};
use crate::app::{App, AppState};
use crate::inventory::view::LatestView;
use crate::retention::{Guard, resume_once};
use faulty::Deed;
use steps::{Step, step};
use things::{Kind, Model, Thing};

/// Steps of one run, which begins with a new database.
const RUN: usize = 50;

#[test]
fn service_and_model_never_differ() {
    let steps = std::env::var("CHANCERY_MODEL_STEPS").map_or(500, |text| text.parse().unwrap());
    let steps: usize = steps / 2;
    for engine in ["SQLite", "PostgreSQL"] {
        let cases = u32::try_from(steps / RUN).unwrap().max(1);
        let config =
            Config { cases, max_shrink_iters: 100, failure_persistence: None, ..Config::default() };
        let runs =
            (prop_oneof![1 => Just(0_u32), 4 => Just(30)], prop::collection::vec(step(), RUN));
        TestRunner::new(config)
            .run(&runs, |(days, steps)| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                runtime.unwrap().block_on(run(engine, days, &steps));
                Ok(())
            })
            .unwrap();
    }
}

async fn run(engine: &'static str, days: u32, steps: &[Step]) {
    let scene = on_engine(engine, |config| config.purge_after_days = days).await;
    let mut pair = Pair::new(scene, days).await;
    for step in steps {
        pair.take(step).await;
        pair.compare(step).await;
    }
}

/// The service and its model.
struct Pair {
    scene: Scene,
    model: Model,
    profile: Value,
    /// Another process on the same database, and when it was started.
    other: Option<(AppState, OffsetDateTime)>,
}

impl Pair {
    async fn new(scene: Scene, days: u32) -> Self {
        // Two share a server, not a file.
        let other = match scene.engine {
            "PostgreSQL" => Some((scene.api.second_process().await, scene.api.clock_now())),
            _ => None,
        };
        let profile = scene.admin().get("/api/admin/profiles").await.json()[0]["id"].clone();
        let model = Model::of(&scene, days).await;
        Self { scene, model, profile, other }
    }

    async fn take(&mut self, step: &Step) {
        self.model.now = self.scene.api.state.clock.now();
        match *step {
            Step::Create { kind, name, on } => self.create(kind, name, on).await,
            Step::Delete { which, fault } => {
                let thing = self.model.any(which);
                let plan = self.model.deletion(thing);
                let (path, is_gone) = (self.path(thing, ""), self.model.days == 0);
                self.set(fault);
                let answer = self.scene.admin().delete(&path).await;
                let to = if is_gone { Deed::Remove } else { Deed::Delete };
                self.follow(step, plan, fault, answer, to).await;
            }
            Step::Force { which, along, fault } => {
                let thing = self.model.any(which);
                let plan = self.model.removal(thing, along);
                let path = self.path(thing, &format!("/force?withDependants={along}"));
                self.set(fault);
                let answer = self.scene.admin().delete(&path).await;
                self.follow(step, plan, fault, answer, Deed::Remove).await;
            }
            Step::Restore { which, along, fault } => {
                let thing = self.model.any(which);
                let plan = self.model.restoration(thing, along);
                let Thing { kind, id, .. } = &self.model.things[thing];
                let path = kind.path();
                let path = format!("{path}/restore/{id}?withDependencies={along}");
                self.set(fault);
                let answer = self.scene.admin().post_text(&path, "").await;
                self.follow(step, plan, fault, answer, Deed::Restore).await;
            }
            Step::Issue { which } => self.issue(which).await,
            Step::Purge { fault } => self.purge(step, fault).await,
            Step::GoOn(by) => self.scene.api.clock.advance(by),
            Step::Restart => self.restart().await,
            Step::Turn => {
                if let Some((state, started)) = &mut self.other {
                    std::mem::swap(state, &mut self.scene.api.state);
                    std::mem::swap(started, &mut self.model.started);
                }
            }
        }
    }

    fn path(&self, thing: usize, rest: &str) -> String {
        let Thing { kind, id, .. } = &self.model.things[thing];
        format!("{}/{id}{rest}", kind.path())
    }

    async fn create(&mut self, kind: Kind, name: usize, on: usize) {
        let name = format!("Name {name}");
        let (ground, expected) = self.model.ground(kind, &name, on);
        let at = |index: usize| self.model.things[index].id.clone();
        let body = match kind {
            Kind::KeyStore => json!({"name": name, "token": "local"}),
            Kind::LocalCa => {
                let depth = ground.get(1).map_or(0, |parent| self.model.depth(*parent) + 1);
                // No CA outlives the one above it, however late it is made.
                let lifetime = [7000, 3000, 1000][depth];
                json!({
                    "name": name, "keyStoreId": at(ground[0]), "subjectDn": format!("CN={name}"),
                    "rootCa": ground.len() == 1, "keyAlgorithm": "ECDSA P-256",
                    "parentLocalCaId": ground.get(1).map(|parent| at(*parent)),
                    "lifetimeInDays": lifetime,
                })
            }
            Kind::CertIssuer => json!({
                "caName": name, "localCaId": at(ground[0]), "certProfileId": self.profile,
            }),
        };
        let answer = self.scene.admin().post(&kind.path(), &body).await;
        if let Err(code) = expected {
            assert_eq!(answer.refusal().1, code, "{kind:?} {name}: {}", answer.text);
            return;
        }
        assert_eq!(answer.status, 200, "{kind:?} {name}: {}", answer.text);
        let id = answer.json()["id"].as_str().unwrap().to_owned();
        let key = if kind == Kind::LocalCa { Some(self.scene.key_of(&id).await) } else { None };
        self.model.things.push(Thing {
            kind,
            id,
            name,
            key,
            deleted: None,
            is_gone: false,
            on: ground,
        });
    }

    async fn issue(&mut self, which: usize) {
        let Some(issuer) = self.model.issuer(which) else { return };
        let body = json!({
            "caName": issuer.id, "dn": "CN=a.example.test", "csrGeneratorName": "ECDSA P-256",
            "p12Password": "a long password", "teamName": "Administrators",
        });
        let answer = self.scene.admin().post("/api/certs/request", &body).await;
        if issuer.is_live() {
            assert_eq!(answer.status, 200, "{}", answer.text);
        } else {
            assert_eq!(answer.refusal(), (422, "unknown_issuer".to_owned()));
        }
    }

    /// Another process on the same database and signer.
    async fn restart(&mut self) {
        let old = &self.scene.api.state;
        // The one that ends has looked at its clock every minute.
        assert_eq!(old.purge_guard.look(old).await.unwrap(), None);
        old.purge_guard.leave(old).await.unwrap();
        let guard = Guard::new(old.new_id(), &*old.clock);
        self.scene.api.state = AppState::new(App {
            inventory: LatestView::default(),
            purge_guard: guard.into(),
            purge_failed: Arc::default(),
            under_way: Arc::default(),
            ..App::clone(old)
        });
        self.model.started = self.model.now;
        resume_once(&self.scene.api.state).await.unwrap();
    }

    async fn compare(&self, step: &Step) {
        for kind in [Kind::KeyStore, Kind::LocalCa, Kind::CertIssuer] {
            let of = |list: &Value, field: &str| {
                let mut ids: Vec<_> =
                    list.as_array().unwrap().iter().map(|item| item[field].clone()).collect();
                ids.sort_by_key(Value::to_string);
                ids
            };
            let live = self.scene.admin().get(&kind.path()).await.json();
            let deleted = self.scene.admin().get(&format!("{}/deleted", kind.path())).await.json();
            assert_eq!(of(&live, "id"), self.model.ids(kind, false), "{step:?}");
            assert_eq!(of(&deleted, "id"), self.model.ids(kind, true), "{step:?}");
            assert_eq!(of(&deleted, "purgeAt"), self.model.purge_times(kind), "{step:?}");
        }
        for ca in self.model.things.iter().filter(|thing| thing.kind == Kind::LocalCa) {
            let expected = match (ca.is_gone, ca.deleted) {
                (true, _) => KeyState::Destroyed,
                (false, Some(_)) => KeyState::Disabled,
                (false, None) => KeyState::Live,
            };
            assert_eq!(self.scene.key(ca.key.unwrap()), expected, "{step:?}: {}", ca.name);
        }
    }
}
