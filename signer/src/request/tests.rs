//! Requests to a signer without a token, in this process.

use std::sync::Arc;
use std::task::Poll;

use chancery_shared::bad_keys::BadKeys;
use chancery_shared::bytes::{Bytes, Fixed};
use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::{Entry, Event, Intent, KeyEvent};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{Hello, KeyChange, KeyRole, Reply, Request};
use chancery_shared::wire::{Context, JournalHead, Outcome, RefusalCode, ReplyEnvelope};
use tempfile::TempDir;

use super::approvals::{self, Parking};
use crate::approval::Fate;
use crate::clock::SystemClock;
use crate::config::{CaCertificates, Config, KeyChangeRule};
use crate::policy::ConnectionSerials;
use crate::signer::Signer;
use crate::startup;
use crate::token::Sandbox;

/// A signer's home, gone with the test.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn start(&self) -> Arc<Signer> {
        let config = Config {
            home: self.0.path().into(),
            api_uid: 0,
            api_gid: None,
            operator_uid: 0,
            sandbox: Sandbox::Optional,
            ca_certificates: CaCertificates::Allow,
            enable: KeyChangeRule::Allow,
            destroy: KeyChangeRule::Allow,
            budget_per_minute: 0,
            approvals_per_hour: 0,
            clock_jump: time::Duration::minutes(5),
            anchors: Vec::new(),
            bad_keys: BadKeys::shipped(),
            segment_bytes: 1024 * 1024,
            tokens: Vec::new(),
            ceiling: Policy::shipped(),
        };
        startup::start(config, Arc::new(SystemClock), Vec::new()).unwrap().0
    }

    /// A live key on a token that is not there.
    async fn start_with_a_key(&self) -> Arc<Signer> {
        let signer = self.start();
        let change = signer.keyring.change().await;
        let pending = Event::KeyPending {
            key_id: key_id(),
            token: "T".into(),
            key_algorithm: KeyAlgorithm::EcdsaP256,
            signature_algorithm: SignatureAlgorithm::EcdsaSha256,
            role: KeyRole::Ca,
            policy: Policy::shipped(),
            context: Context::default(),
        };
        change.make(pending).await.unwrap();
        change.make(Event::KeyCreated { key_id: key_id(), spki: Bytes(vec![1]) }).await.unwrap();
        drop(change);
        signer
    }
}

fn key_id() -> KeyId {
    KeyId::from_bytes([7; 12])
}

fn disable() -> Request {
    let (key_id, reason, context) = (key_id(), "a test".into(), Context::default());
    Request::DisableKey(KeyChange { key_id, reason, context })
}

async fn ask(signer: &Arc<Signer>, request: Request) -> ReplyEnvelope<Reply> {
    let connection = Arc::new(ConnectionSerials::new(Fixed([1; 16])));
    let frame = serde_json::json!({ "version": 1, "id": 1, "body": request });
    let frame = serde_json::to_vec(&frame).unwrap();
    super::serve(Arc::clone(signer), connection, &frame).await.0
}

async fn hello(signer: &Arc<Signer>, journal_heads: Vec<JournalHead>) -> ReplyEnvelope<Reply> {
    ask(signer, Request::Hello(Hello { journal_heads })).await
}

/// What the journal says of each entry, in order.
fn kinds(signer: &Signer) -> Vec<&'static str> {
    let entries = signer.journal.read(0, usize::MAX).unwrap();
    let kind = |entry: &String| match serde_json::from_str::<Entry>(entry).unwrap().event {
        Event::Intent(_) => "intent",
        Event::Abandoned { .. } => "abandoned",
        Event::KeyDisabled(_) => "key-disabled",
        _ => "other",
    };
    entries.iter().map(kind).filter(|kind| *kind != "other").collect()
}

#[tokio::test]
async fn no_intent_of_a_key_follows_the_entry_that_disables_it() {
    let home = Home::new();
    let signer = home.start_with_a_key().await;
    let in_use = signer.keyring.begin_use(key_id()).await.unwrap();

    let mut disabling = std::pin::pin!(ask(&signer, disable()));
    let mut begun_later = std::pin::pin!(signer.keyring.begin_use(key_id()));
    // It is asked for, and as long as a use is left another one may not overtake it either.
    assert!(is_pending(disabling.as_mut()).await);
    assert!(is_pending(begun_later.as_mut()).await);
    let intent = signer.journal.append(intent(None)).await.unwrap().seq;
    let abandoned = Event::Abandoned { intent, reason: "a test".into() };
    signer.journal.append(abandoned).await.unwrap();
    assert!(is_pending(disabling.as_mut()).await);
    drop(in_use);
    let (disabled, later) = tokio::join!(disabling, begun_later);

    assert!(matches!(disabled.outcome, Outcome::Done(_)), "{disabled:?}");
    assert_eq!(later.unwrap().record().life, crate::keyring::Life::Disabled);
    assert_eq!(kinds(&signer), ["intent", "abandoned", "key-disabled"]);
}

async fn is_pending(mut future: std::pin::Pin<&mut impl Future>) -> bool {
    std::future::poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

fn intent(approval_id: Option<ApprovalId>) -> Event {
    Event::Intent(Box::new(Intent {
        operation: "sign-certificate".into(),
        key_id: key_id(),
        tbs: Bytes(vec![0x30, 0]),
        csr: None,
        serial_nonce: Fixed([0; 40]),
        approval_id,
        context: Context::default(),
    }))
}

#[tokio::test]
async fn a_head_that_the_journal_lacks_stops_the_signer_over_restarts_and_no_reply_has_a_head() {
    let home = Home::new();
    let signer = home.start_with_a_key().await;
    let known = JournalHead { seq: 100, ..signer.journal.head() };

    let told = hello(&signer, vec![known]).await;
    let disabled = ask(&signer, disable()).await;
    signer.journal.clone().close().await;
    drop(signer);
    let signer = home.start();
    let told_again = hello(&signer, Vec::new()).await;

    for told in [told, told_again] {
        let Outcome::Done(Reply::Hello(hello)) = told.outcome else { panic!("{told:?}") };
        assert_eq!(hello.journal_head, None);
        assert_eq!(hello.halted.map(|refusal| refusal.code), Some(RefusalCode::JournalBehind));
    }
    assert!(matches!(disabled.outcome, Outcome::Done(_)), "{disabled:?}");
    assert_eq!(disabled.journal, None);
    assert_eq!(signer.missing_head(), Some(known));
}

#[tokio::test]
async fn a_head_that_no_one_could_accept_is_refused_and_stops_nothing() {
    let home = Home::new();
    let signer = home.start_with_a_key().await;
    let impossible = JournalHead { seq: u64::MAX, ..signer.journal.head() };

    let told = hello(&signer, vec![impossible]).await;

    let Outcome::Refused(refusal) = told.outcome else { panic!("{told:?}") };
    assert_eq!(refusal.rule.as_deref(), Some("hello.journal-heads"));
    assert_eq!(signer.missing_head(), None);
}

fn enable() -> Request {
    let (key_id, reason, context) = (key_id(), "a test".into(), Context::default());
    Request::EnableKey(KeyChange { key_id, reason, context })
}

/// An enable that waits for the operator.
async fn parked_enable(signer: &Signer) -> ApprovalId {
    let (key_id, context) = (key_id(), Context::default());
    let parking = Parking { request: enable(), key_id, context, why: "a test" };
    approvals::park(signer, parking, signer.guarded_now()).await.unwrap().0
}

/// One that the operator's word has begun to carry out.
async fn begun_enable(signer: &Signer) -> ApprovalId {
    let approval_id = parked_enable(signer).await;
    let now = signer.guarded_now();
    signer.approvals.begin(approval_id, now, signer.journal.head().seq).await.unwrap();
    approval_id
}

#[tokio::test]
async fn what_is_being_decided_on_takes_no_second_place() {
    let home = Home::new();
    let signer = home.start_with_a_key().await;
    ask(&signer, disable()).await;
    let approval_id = begun_enable(&signer).await;
    let now = signer.guarded_now();

    assert_eq!(approvals::waiting_for(&signer, &enable(), now), Some(approval_id));

    // After a start it has its place once the journal was asked, which is not done under the lock.
    signer.journal.clone().close().await;
    drop(signer);
    let signer = home.start();
    assert_eq!(approvals::waiting_for(&signer, &enable(), now), None);
    approvals::make_sure(&signer, &enable()).await;
    assert_eq!(approvals::waiting_for(&signer, &enable(), now), Some(approval_id));
}

#[tokio::test]
async fn an_enable_that_was_begun_after_its_key_was_disabled_does_not_wait_again_after_a_start() {
    let home = Home::new();
    let signer = home.start_with_a_key().await;
    let (approval_id, now) = (parked_enable(&signer).await, signer.guarded_now());
    let Request::DisableKey(KeyChange { key_id, reason, context }) = disable() else { panic!() };
    let disabled = Event::KeyDisabled(KeyEvent { key_id, reason, context });
    // The signer is killed before the enable is withdrawn.
    signer.keyring.change().await.make(disabled).await.unwrap();
    signer.approvals.begin(approval_id, now, signer.journal.head().seq).await.unwrap();
    signer.journal.clone().close().await;
    drop(signer);
    let signer = home.start();

    approvals::make_sure(&signer, &enable()).await;

    let parked = signer.approvals.find(approval_id).unwrap();
    assert_eq!(parked.fate, Fate::Expired);
}
