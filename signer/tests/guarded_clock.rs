//! A clock that is set neither ends what waits for the operator nor brings it back.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that can't go on panics")]

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::journal::{Entry, Event};
use chancery_shared::wire::operator::{Decision, Nothing, Reply, Request};
use chancery_shared::wire::{Context, Outcome, v1};
use chancery_signer::approval::{Fate, ParkedRequest};
use chancery_signer::clock::Clock;
use chancery_signer::config::Config;
use chancery_signer::signer::Signer;
use chancery_signer::{operator, startup};
use tempfile::TempDir;
use time::OffsetDateTime;

const DAY: time::Duration = time::Duration::days(1);

const SIGNER_TOML: &str = r#"
    api_uid = 1
    operator_uid = 0
    sandbox = "optional"
    [[token]]
    name = "T"
    module = "/nowhere/module.so"
    label = "l"
    folder = "signer/token"
    pin_file = "signer/pin"
"#;

/// The wall clock and the time since boot.
struct Hands(Mutex<(OffsetDateTime, Duration)>);

impl Hands {
    /// Someone sets the wall clock.
    fn set(&self, by: time::Duration) {
        self.0.lock().unwrap().0 += by;
    }

    fn pass(&self, days: u64) {
        let passed = Duration::from_hours(24 * days);
        let mut hands = self.0.lock().unwrap();
        hands.0 += passed;
        hands.1 += passed;
    }
}

impl Clock for Hands {
    fn now(&self) -> OffsetDateTime {
        self.0.lock().unwrap().0
    }

    fn since_boot(&self) -> Duration {
        self.0.lock().unwrap().1
    }
}

struct Scene {
    _home: TempDir,
    hands: Arc<Hands>,
    signer: Arc<Signer>,
}

/// A signer whose token is away, with one request that waits.
async fn scene() -> Scene {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("config")).unwrap();
    std::fs::write(home.path().join("config/signer.toml"), SIGNER_TOML).unwrap();
    let config = Config::load(home.path(), Path::new("/nowhere/chancery-signer")).unwrap();
    let began = OffsetDateTime::UNIX_EPOCH + DAY * 20_000;
    let hands = Arc::new(Hands(Mutex::new((began, Duration::from_secs(1)))));
    let clock: Arc<dyn Clock> = Arc::<Hands>::clone(&hands);
    let (signer, _) = startup::start(config, clock, Vec::new()).unwrap();
    let change = v1::KeyChange {
        key_id: KeyId::from_bytes([1; 12]),
        reason: "a test".into(),
        context: Context::default(),
    };
    let request = ParkedRequest {
        approval_id: approval_id(),
        request: v1::Request::EnableKey(change),
        summary: "a test".into(),
        parked_at: began,
        parked_seq: 1,
        fate: Fate::Waiting,
    };
    signer.approvals.place(began).await.unwrap().park(request).await.unwrap();
    Scene { _home: home, hands, signer }
}

fn approval_id() -> ApprovalId {
    ApprovalId::from_bytes([4; 12])
}

async fn ask(scene: &Scene, request: Request) -> Outcome<Reply> {
    let frame = serde_json::json!({"version": 1, "id": 1, "body": request});
    let frame = serde_json::to_vec(&frame).unwrap();
    operator::serve(Arc::clone(&scene.signer), 0, &frame).await.0.outcome
}

/// How many wait, as `pending`, `status` and `show` have it.
async fn waiting(scene: &Scene) -> usize {
    let Outcome::Done(Reply::Pending(pending)) = ask(scene, Request::Pending(Nothing {})).await
    else {
        panic!("no list");
    };
    let Outcome::Done(Reply::Status(status)) = ask(scene, Request::Status(Nothing {})).await else {
        panic!("no status");
    };
    let show = Request::Show(Decision { approval_id: approval_id() });
    let Outcome::Done(Reply::Shown(shown)) = ask(scene, show).await else { panic!("not shown") };
    let is_waiting = shown.status == v1::ApprovalStatus::Waiting;
    assert_eq!((pending.len(), pending.len()), (status.pending as usize, usize::from(is_waiting)));
    pending.len()
}

#[tokio::test]
async fn a_clock_that_is_set_forward_ends_no_approval() {
    let scene = scene().await;

    scene.hands.set(DAY * 60);
    scene.signer.approvals.prune(scene.signer.guarded_now()).await;

    assert_eq!(waiting(&scene).await, 1);
    let deny = Request::Deny(Decision { approval_id: approval_id() });
    assert!(matches!(ask(&scene, deny).await, Outcome::Done(Reply::Accepted(_))));
}

#[tokio::test]
async fn a_clock_that_is_set_back_brings_no_approval_back() {
    let scene = scene().await;
    scene.hands.pass(8);
    assert_eq!(waiting(&scene).await, 0);

    scene.hands.set(-DAY * 8);

    assert_eq!(waiting(&scene).await, 0);
    let deny = Request::Deny(Decision { approval_id: approval_id() });
    assert!(matches!(ask(&scene, deny).await, Outcome::Refused(_)));
}

#[tokio::test]
async fn the_time_that_the_operator_accepts_is_the_one_that_the_journal_names() {
    let scene = scene().await;
    scene.hands.set(DAY * 8);
    let shown = scene.hands.now();

    let accepted = ask(&scene, Request::AcceptClock(Nothing {})).await;

    assert!(matches!(accepted, Outcome::Done(Reply::Accepted(_))), "{accepted:?}");
    let entries = scene.signer.journal.read(0, usize::MAX).unwrap();
    let last: Entry = serde_json::from_str(entries.last().unwrap()).unwrap();
    let expected = shown - DAY * 8;
    assert_eq!(
        last.event,
        Event::ClockAccepted { expected, accepted: shown, operator_uid: Some(0) }
    );
    // It is the reference from now on: by it, the request has waited for too long.
    assert_eq!(scene.signer.guarded_now(), shown);
    assert_eq!(waiting(&scene).await, 0);
}
