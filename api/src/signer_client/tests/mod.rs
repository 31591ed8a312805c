//! The client against a fake signer on a real socket.

use std::sync::Arc;
use std::time::Duration;

use chancery_shared::bytes::Bytes;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::{
    CreateCaKey, JournalPart, KeyCreated, KeyRole, Reply, Request, Seal, SignCertificate,
    TokenState,
};
use chancery_shared::wire::{Context, JournalHead, RefusalCode};
use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};

use super::fake_signer::{FakeSigner, Reaction, refusal};
use super::*;
use crate::random::TestRandom;

/// A database without heads.
struct NoHeads;

impl JournalHeads for NoHeads {
    fn journal_heads(&self) -> BoxFuture<'_, Result<Vec<JournalHead>, HeadsUnknown>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

mod lost;

fn started() -> (TempDir, FakeSigner, SignerClient) {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let client = client(&fake, Arc::new(NoHeads));
    (folder, fake, client)
}

fn client(fake: &FakeSigner, heads: Arc<dyn JournalHeads>) -> SignerClient {
    let options = Options {
        // Long enough for a busy machine, and no test waits it out.
        wait_for_connection: Duration::from_secs(20),
        refresh_every: Duration::from_millis(20),
        back_off: (Duration::from_millis(1), Duration::from_millis(10)),
        ..Options::new(fake.socket.clone())
    };
    SignerClient::start(options, heads, Arc::new(TestRandom::default()))
}

async fn key(client: &SignerClient) -> KeyCreated {
    let request = CreateCaKey {
        token: "local".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        policy: None,
        context: Context::default(),
    };
    client.create_ca_key(request).await.unwrap().value
}

fn seal(byte: u8) -> Seal {
    Seal { token: "local".into(), bytes: vec![byte; 32].into(), context: Context::default() }
}

async fn sign(client: &SignerClient, key: &KeyCreated) -> Result<Signing, SignerError> {
    let (serial_nonce, on) = client.serial_nonce().await?;
    sign_on(client, key, serial_nonce, on).await
}

async fn sign_on(
    client: &SignerClient,
    key: &KeyCreated,
    serial_nonce: chancery_shared::bytes::SerialNonce,
    on: ConnectionHandle,
) -> Result<Signing, SignerError> {
    let request = SignCertificate {
        key_id: key.key_id,
        tbs: Bytes(vec![0x30, 0]),
        csr: Bytes(vec![0x30, 0]),
        serial_nonce,
        context: Context::default(),
    };
    client.sign_certificate(on, request).await.map(|answer| answer.value)
}

/// Waits until the state is as wished.
async fn becomes(client: &SignerClient, wished: impl FnMut(&SignerState) -> bool) {
    client.watch_state().wait_for(wished).await.unwrap();
}

#[tokio::test]
async fn a_key_is_made_and_signs_and_each_answer_carries_the_journals_head() {
    let (_folder, fake, client) = started();

    let key = key(&client).await;
    let (nonce, on) = client.serial_nonce().await.unwrap();
    let request = SignCertificate {
        key_id: key.key_id,
        tbs: Bytes(b"tbs".to_vec()),
        csr: Bytes(Vec::new()),
        serial_nonce: nonce,
        context: Context::default(),
    };
    let signed = client.sign_certificate(on, request).await.unwrap();

    assert_eq!(signed.head, Some(fake.signer().journal.head()));
    let Signing::Signed(signature) = signed.value else { panic!("nothing needs approval") };
    let algorithm = SignatureAlgorithm::EcdsaSha256;
    chancery_shared::signature::verify_as(&key.spki.0, algorithm, b"tbs", &signature).unwrap();
}

#[tokio::test]
async fn no_two_serial_nonces_are_the_same_and_all_begin_with_the_connections_nonce() {
    let (_folder, _fake, client) = started();

    let (first, _on) = client.serial_nonce().await.unwrap();
    let (second, _on) = client.serial_nonce().await.unwrap();

    assert_eq!(first.0[..16], second.0[..16]);
    assert_eq!(first.0[16..24], 1_u64.to_be_bytes());
    assert_eq!(second.0[16..24], 2_u64.to_be_bytes());
    assert_ne!(first.0[24..], second.0[24..]);
}

#[tokio::test]
async fn answers_may_come_in_any_order() {
    let (_folder, fake, client) = started();
    let late = Arc::new(Notify::new());
    let told = Arc::clone(&late);
    fake.script(move |request| match request {
        Request::Seal(seal) if seal.bytes.expose()[0] == 1 => {
            Reaction::AnswerWhen(Arc::clone(&told))
        }
        _ => Reaction::Answer,
    });

    let first = tokio::spawn({
        let client = client.clone();
        async move { client.seal(seal(1)).await }
    });
    let second = client.seal(seal(2)).await.unwrap();
    late.notify_one();

    assert_eq!(second.value.0, [2; 32]);
    assert_eq!(first.await.unwrap().unwrap().value.0, [1; 32]);
}

#[tokio::test]
async fn a_request_over_the_limit_waits_unsent_until_another_is_answered() {
    let (_folder, fake, client) = started();
    let release = Arc::new(Notify::new());
    let (seen, mut arrivals) = mpsc::unbounded_channel();
    let told = Arc::clone(&release);
    fake.script(move |request| match request {
        Request::Seal(_) => {
            seen.send(()).unwrap();
            Reaction::AnswerWhen(Arc::clone(&told))
        }
        _ => Reaction::Answer,
    });

    let mut asked = tokio::task::JoinSet::new();
    for byte in 0..64 {
        let client = client.clone();
        asked.spawn(async move { client.seal(seal(byte)).await });
    }
    for _ in 0..63 {
        arrivals.recv().await.unwrap();
    }
    // One slot is kept for `hello`: the state stays known under load.
    becomes(&client, SignerState::is_reachable).await;
    assert!(arrivals.try_recv().is_err());
    release.notify_one();
    arrivals.recv().await.unwrap();
    while !asked.is_empty() {
        release.notify_waiters();
        if let Some(answer) = asked.try_join_next() {
            answer.unwrap().unwrap();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_refusal_is_an_ordinary_answer_and_the_connection_stays() {
    let (_folder, fake, client) = started();
    let key = key(&client).await;
    let before = client.serial_nonce().await.unwrap().0;
    fake.script(|request| match request {
        Request::SignCertificate(_) => Reaction::Refuse(refusal(RefusalCode::Busy)),
        _ => Reaction::Answer,
    });

    assert_eq!(sign(&client, &key).await, Err(SignerError::Refused(refusal(RefusalCode::Busy))));
    let after = client.serial_nonce().await.unwrap().0;
    assert_eq!(before.0[..16], after.0[..16]);
}

#[tokio::test]
async fn the_state_follows_the_tokens_and_says_at_once_what_the_signer_would() {
    let (_folder, fake, client) = started();
    let key = key(&client).await;
    becomes(&client, |state| state.key(key.key_id).is_some()).await;
    assert_eq!(client.state().check_key(key.key_id), Ok(()));

    fake.signer().tokens[0].state = TokenState::Absent;
    becomes(&client, |state| state.check_key(key.key_id).is_err()).await;

    let Err(SignerError::Refused(no)) = client.state().check_key(key.key_id) else { panic!() };
    assert_eq!(no.code, RefusalCode::TokenUnavailable);

    fake.signer().tokens[0].state = TokenState::Ok;
    becomes(&client, |state| state.check_key(key.key_id).is_ok()).await;
}

#[tokio::test]
async fn a_token_that_recovers_is_asked_for_signatures_and_is_not_ready() {
    let (_folder, fake, client) = started();
    let key = key(&client).await;
    becomes(&client, |state| state.key(key.key_id).is_some()).await;

    fake.signer().tokens[0].state = TokenState::Recovering;
    becomes(&client, |state| state.check_token("local").is_err()).await;

    assert_eq!(client.state().check_key(key.key_id), Ok(()));
    assert!(sign(&client, &key).await.is_ok());
}

#[tokio::test]
async fn a_refusal_that_speaks_of_the_token_refreshes_the_state_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let options = Options {
        wait_for_connection: Duration::from_secs(20),
        // Never by itself within this test.
        refresh_every: Duration::from_hours(1),
        ..Options::new(fake.socket.clone())
    };
    let client = SignerClient::start(options, Arc::new(NoHeads), Arc::new(TestRandom::default()));
    becomes(&client, SignerState::is_reachable).await;
    fake.signer().tokens[0].state = TokenState::PinRefused;
    fake.script(|request| match request {
        Request::Seal(_) => Reaction::Refuse(refusal(RefusalCode::PinRefused)),
        _ => Reaction::Answer,
    });

    client.seal(seal(1)).await.unwrap_err();

    becomes(&client, |state| state.check_token("local").is_err()).await;
}

#[tokio::test]
async fn a_token_that_does_not_sign_yet_is_looked_at_again_soon() {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    fake.signer().tokens[0].state = TokenState::Recovering;
    let options = Options {
        wait_for_connection: Duration::from_secs(20),
        // Never by itself within this test, once all is well.
        refresh_every: Duration::from_hours(1),
        ..Options::new(fake.socket.clone())
    };
    let client = SignerClient::start(options, Arc::new(NoHeads), Arc::new(TestRandom::default()));
    becomes(&client, |state| state.is_reachable() && !state.is_whole()).await;

    fake.signer().tokens[0].state = TokenState::Ok;

    becomes(&client, SignerState::is_whole).await;
}

#[tokio::test]
async fn each_hello_tells_the_heads_and_without_them_there_is_none() {
    struct Heads(std::sync::Mutex<Option<Vec<JournalHead>>>);
    impl JournalHeads for Heads {
        fn journal_heads(&self) -> BoxFuture<'_, Result<Vec<JournalHead>, HeadsUnknown>> {
            Box::pin(async { self.0.lock().unwrap().clone().ok_or(HeadsUnknown) })
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let head = fake.signer().journal.head();
    let (told, mut hellos) = mpsc::unbounded_channel();
    fake.script(move |request| {
        if let Request::Hello(hello) = request {
            let _ = told.send(hello.journal_heads.clone());
        }
        Reaction::Answer
    });
    let heads = Arc::new(Heads(std::sync::Mutex::new(None)));

    let client = client(&fake, heads.clone());
    let mut state = client.watch_state();
    tokio::task::yield_now().await;
    assert!(!state.borrow_and_update().is_reachable());
    *heads.0.lock().unwrap() = Some(vec![head]);
    state.wait_for(SignerState::is_reachable).await.unwrap();

    assert_eq!(hellos.recv().await, Some(vec![head]));
}
