//! Tests with a real token that need more than the public interface: signing without a journal.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chancery_shared::id::KeyId;
use chancery_shared::signature::Verifier;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::TokenState;
use softhsm_test_harness::{LABEL, SO_PIN, SoftHsm, USER_PIN};
use tokio::task::JoinSet;

use super::setup::init_token;
use super::{CaKey, Sandbox, Secret, SystemCalls, Token, TokenConfig, TokenError};
use crate::clock::SystemClock;

mod codes;
mod every_code;

/// A hang of a test, not a measure of anything.
const PATIENCE: Duration = Duration::from_mins(1);

/// `chancery-signer`, which cargo builds beside the tests.
fn program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().unwrap().parent().unwrap().join("chancery-signer");
    assert!(program.exists(), "run `cargo build -p chancery-signer` first");
    program
}

fn config(hsm: &SoftHsm) -> TokenConfig {
    TokenConfig {
        name: "Local Token".to_owned(),
        module: SoftHsm::module().unwrap(),
        serial: None,
        label: Some(LABEL.to_owned()),
        environment: hsm.environment(),
        pin_file: hsm.pin_file(),
        folder: hsm.token_folder(),
        max_keys: 100,
        threads: Some(4),
        deadline: Duration::from_secs(10),
        state_folder: hsm.state_folder(),
        program: program(),
        sandbox: Sandbox::Required,
        system_calls: SystemCalls::Local,
    }
}

/// A copy of a token that has been set up.
fn token_folder() -> SoftHsm {
    SoftHsm::from_template(&program(), |empty| {
        // A runtime of its own, on a thread of its own: the test's may not be blocked.
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                let (so_pin, user_pin) = (Secret::new(SO_PIN.into()), Secret::new(USER_PIN.into()));
                runtime.block_on(init_token(&config(empty), so_pin, user_pin))?;
                Ok::<(), anyhow::Error>(())
            });
            made.join().unwrap()
        })?;
        Ok(())
    })
    .unwrap()
}

async fn start(hsm: &SoftHsm) -> Token {
    let token = Token::start(config(hsm), Arc::new(SystemClock));
    until(&token, TokenState::Ok).await;
    token
}

async fn until(token: &Token, state: TokenState) {
    let mut watch = token.watch();
    let reached = watch.wait_for(|standing| standing.state == state);
    let in_time = tokio::time::timeout(PATIENCE, reached).await.is_ok();
    assert!(in_time, "the token is {:?}", token.status(0));
}

async fn key(token: &Token, number: u8, key: KeyAlgorithm, how: SignatureAlgorithm) -> CaKey {
    let id = KeyId::from_bytes([number; 12]);
    let spki = token.create_key(id, key, how).await.unwrap();
    token.ca_key(id, how, Some(verifier(&spki, how)))
}

fn verifier(spki: &[u8], how: SignatureAlgorithm) -> Arc<Verifier> {
    Arc::new(Verifier::new(spki, how).unwrap())
}

#[tokio::test]
async fn every_kind_of_key_signs_in_every_way_it_can() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let mut number = 0;

    for algorithm in KeyAlgorithm::ALL {
        for how in SignatureAlgorithm::ALL.into_iter().filter(|how| algorithm.makes(*how)) {
            number += 1;
            let key = key(&token, number, algorithm, how).await;

            // Verified with the public key before it is returned.
            let signature = key.sign_bytes(b"to be signed").await;

            assert!(signature.is_ok(), "{algorithm:?} {how:?}: {signature:?}");
            token.destroy_key(KeyId::from_bytes([number; 12])).await.unwrap();
            assert_eq!(key.sign_bytes(b"to be signed").await, Err(TokenError::KeyGone));
        }
    }
    let status = token.status(0);
    assert_eq!(status.signatures, u64::from(number));
    assert_eq!(status.trial_signatures, u64::from(number));
    assert_eq!(status.workers_started, 1);
    token.stop().await;
}

#[tokio::test]
async fn what_was_checked_for_another_key_or_algorithm_is_not_signed() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let (id, how) = (KeyId::from_bytes([1; 12]), SignatureAlgorithm::EcdsaSha256);

    let key = token.ca_key(id, how, None);

    assert_eq!(key.accept(id, how), Ok(()));
    for (id, how) in [
        (KeyId::from_bytes([2; 12]), SignatureAlgorithm::EcdsaSha256),
        (id, SignatureAlgorithm::EcdsaSha384),
    ] {
        assert_eq!(key.accept(id, how), Err(TokenError::WrongAlgorithm));
    }
}

#[tokio::test]
async fn a_signature_that_the_public_key_does_not_verify_never_leaves() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let (algorithm, how) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);
    let id = KeyId::from_bytes([1; 12]);
    token.create_key(id, algorithm, how).await.unwrap();
    let other = token.create_key(KeyId::from_bytes([2; 12]), algorithm, how).await.unwrap();

    for verifier in [Some(verifier(&other, how)), None] {
        let signature = token.ca_key(id, how, verifier).sign_bytes(b"to be signed").await;

        assert_eq!(signature, Err(TokenError::WrongSignature));
    }
}

#[tokio::test]
async fn a_worker_killed_under_load_costs_no_request() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let key = key(&token, 1, KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256).await;
    let mut requests = JoinSet::new();
    for client in 0..64_u32 {
        let key = key.clone();
        requests.spawn(async move {
            for nth in 0..20_u32 {
                let message = [client.to_be_bytes(), nth.to_be_bytes()].concat();
                key.sign_bytes(&message).await?;
            }
            Ok::<(), TokenError>(())
        });
    }

    let pid = token.watch().borrow().worker_pid.unwrap();
    kill(pid, rustix::process::Signal::KILL);

    while let Some(request) = requests.join_next().await {
        assert_eq!(request.unwrap(), Ok(()));
    }
    assert_eq!(token.status(0).workers_started, 2);
    token.stop().await;
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}
