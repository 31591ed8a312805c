//! What the service does while the signer fails, asks its operator, or does it without an answer.

use chancery_shared::id::ApprovalId;
use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{ApprovalStatus, KeyState, Pending, Reply, Request};

use super::Pair;
use super::steps::{Change, Fault, Step};
use super::things::{Kind, Thing};
use crate::retention::purge::{Purged, run_once};
use crate::retention::resume_once;
use crate::signer_client::SignerState;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::testing::Answer;

/// What becomes of each thing of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    Delete,
    Restore,
    Remove,
}

impl Fault {
    /// Whether it comes up while this is done to a Local CA.
    fn hits(self, deed: Deed) -> bool {
        match self {
            Self::None => false,
            Self::Refuses(Change::Switch) | Self::LosesAnswer(Change::Switch) => true,
            Self::Refuses(Change::Destroy) | Self::LosesAnswer(Change::Destroy) => {
                deed == Deed::Remove
            }
            Self::Asks { .. } => deed == Deed::Restore,
        }
    }
}

/// Of whatever waits; one at a time does.
const APPROVAL: ApprovalId = ApprovalId::from_bytes([5; 12]);

impl Pair {
    pub(super) fn set(&self, fault: Fault) {
        let (mut left, change) = match fault {
            Fault::None => (None, Change::Switch),
            Fault::Refuses(change) => {
                (Some(Reaction::Refuse(refusal(RefusalCode::RateLimited))), change)
            }
            Fault::LosesAnswer(change) => (Some(Reaction::DoAndClose), change),
            Fault::Asks { .. } => {
                let pending = Pending { approval_id: APPROVAL };
                (Some(Reaction::Reply(Reply::Pending(pending))), Change::Switch)
            }
        };
        let asks = matches!(fault, Fault::Asks { .. });
        self.scene.api.fake.script(move |request| {
            let is_meant = match request {
                Request::DisableKey(_) => change == Change::Switch && !asks,
                Request::EnableKey(_) => change == Change::Switch,
                Request::DestroyKey(_) => change == Change::Destroy,
                _ => false,
            };
            if is_meant { left.take().unwrap_or(Reaction::Answer) } else { Reaction::Answer }
        });
    }

    /// Holds the answer against the plan, and lets the model do what the service has done.
    pub(super) async fn follow(
        &mut self,
        step: &Step,
        plan: Result<Vec<usize>, &'static str>,
        fault: Fault,
        answer: Answer,
        deed: Deed,
    ) {
        self.set(Fault::None);
        let plan = match plan {
            Ok(plan) => plan,
            Err(code) => {
                assert_eq!(answer.refusal().1, code, "{step:?}: {}", answer.text);
                return;
            }
        };
        let is_ca = |thing: &usize| self.model.things[*thing].kind == Kind::LocalCa;
        let hit = plan.iter().position(is_ca).filter(|_| fault.hits(deed));
        let told = |code: &str| assert_eq!(answer.refusal().1, code, "{step:?}: {}", answer.text);
        let done = match (fault, hit) {
            (Fault::None, _) | (_, None) => {
                assert_eq!(answer.status, 200, "{step:?}: {}", answer.text);
                plan.len()
            }
            (Fault::Refuses(_), Some(at)) => {
                told(if at == 0 { "signer_busy" } else { "partly_done" });
                at
            }
            (Fault::LosesAnswer(_), Some(at)) => {
                told("outcome_unknown");
                self.go_on().await;
                at + 1
            }
            (Fault::Asks { is_approved }, Some(at)) => {
                told("wrong_state");
                self.decide(plan[at], is_approved).await;
                at + usize::from(is_approved)
            }
        };
        let now = self.model.now;
        for thing in plan.into_iter().take(done) {
            let to = match deed {
                Deed::Delete => Thing::delete,
                Deed::Restore => Thing::restore,
                Deed::Remove => Thing::remove,
            };
            to(&mut self.model.things[thing], now);
        }
    }

    /// Finishes what was left, once the signer is there.
    async fn go_on(&self) {
        let mut signer = self.scene.api.state.signer.watch_state();
        signer.wait_for(SignerState::is_reachable).await.unwrap();
        resume_once(&self.scene.api.state).await.unwrap();
    }

    /// The operator decides whether the key of this thing comes back.
    async fn decide(&self, thing: usize, is_approved: bool) {
        {
            let mut signer = self.scene.api.fake.signer();
            let status = if is_approved {
                let id = self.model.things[thing].key;
                let mut keys = signer.keys.iter_mut();
                let key = keys.find(|key| Some(key.summary.key_id) == id).unwrap();
                key.summary.state = KeyState::Live;
                ApprovalStatus::Approved { signature: None }
            } else {
                ApprovalStatus::Denied
            };
            signer.approvals.insert(APPROVAL, status);
        }
        resume_once(&self.scene.api.state).await.unwrap();
    }

    /// What could not go this time goes the next.
    pub(super) async fn purge(&mut self, step: &Step, fault: Fault) {
        let is_early = self.model.now - self.model.started < time::Duration::minutes(10);
        let due = self.model.due();
        self.set(fault);
        let first = run_once(&self.scene.api.state).await.unwrap();
        self.set(Fault::None);
        if is_early {
            assert_eq!(first, Purged::NotYet, "{step:?}");
            return;
        }
        let Purged::Done { removed, left, .. } = first else { panic!("{step:?}: {first:?}") };
        assert_eq!(removed + left, due.len(), "{step:?}");
        let is_hit = due.iter().any(|thing| self.model.things[*thing].kind == Kind::LocalCa);
        assert_eq!(left > 0, is_hit && fault.hits(Deed::Remove), "{step:?}");
        if left > 0 {
            self.go_on().await;
            let again = run_once(&self.scene.api.state).await.unwrap();
            assert!(matches!(again, Purged::Done { left: 0, .. }), "{step:?}: {again:?}");
        }
        assert_eq!(self.model.now, self.scene.api.state.clock.now());
        let now = self.model.now;
        for thing in due {
            self.model.things[thing].remove(now);
        }
    }
}
