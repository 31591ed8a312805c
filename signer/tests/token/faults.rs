//! What SoftHSM2 never does: devices removed, PINs locked, sessions lost, calls that hang.

use std::sync::Arc;
use std::time::Duration;

use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::TokenState;
use chancery_signer::clock::SystemClock;
use chancery_signer::token::{Token, TokenConfig, TokenError};
use softhsm_test_harness::{Action, Faults, Order, SoftHsm};
use tokio::task::JoinSet;

use crate::support::{config, data_key, pid, token_folder, until};

const ALGORITHM: KeyAlgorithm = KeyAlgorithm::EcdsaP256;
const HOW: SignatureAlgorithm = SignatureAlgorithm::EcdsaSha256;

const GENERAL_ERROR: Action = Action::Returns(0x5);
const FUNCTION_FAILED: Action = Action::Returns(0x6);
const DATA_LEN_RANGE: Action = Action::Returns(0x21);
const DEVICE_ERROR: Action = Action::Returns(0x30);
const DEVICE_REMOVED: Action = Action::Returns(0x32);
const KEY_HANDLE_INVALID: Action = Action::Returns(0x60);
const OBJECT_HANDLE_INVALID: Action = Action::Returns(0x82);
const OPERATION_ACTIVE: Action = Action::Returns(0x90);
const PIN_LOCKED: Action = Action::Returns(0xa4);
const SESSION_CLOSED: Action = Action::Returns(0xb0);
const SESSION_HANDLE_INVALID: Action = Action::Returns(0xb3);
const USER_NOT_LOGGED_IN: Action = Action::Returns(0x101);
const CRYPTOKI_NOT_INITIALIZED: Action = Action::Returns(0x190);

/// A token behind a module that can be told to fail.
fn faulty(hsm: &SoftHsm) -> (Faults, TokenConfig) {
    let faults = Faults::before(hsm).unwrap();
    let mut config = config(hsm);
    faults.module().clone_into(&mut config.module);
    config.environment.extend(faults.environment().unwrap());
    (faults, config)
}

fn start(config: TokenConfig) -> Token {
    Token::start(config, Arc::new(SystemClock))
}

#[tokio::test]
async fn each_fault_of_one_call_has_its_own_remedy_and_costs_no_request() {
    // Action, then how many epochs and workers there have been when the request is answered.
    for (function, fault, epochs, workers) in [
        ("C_Encrypt", SESSION_HANDLE_INVALID, 1, 1),
        ("C_Encrypt", SESSION_CLOSED, 1, 1),
        ("C_EncryptInit", OPERATION_ACTIVE, 1, 1),
        ("C_EncryptInit", OBJECT_HANDLE_INVALID, 1, 1),
        ("C_EncryptInit", KEY_HANDLE_INVALID, 1, 1),
        ("C_Encrypt", FUNCTION_FAILED, 2, 1),
        ("C_Encrypt", USER_NOT_LOGGED_IN, 2, 1),
        ("C_EncryptInit", CRYPTOKI_NOT_INITIALIZED, 2, 1),
        ("C_Encrypt", DEVICE_ERROR, 2, 2),
        ("C_Encrypt", DEVICE_REMOVED, 2, 2),
    ] {
        let hsm = token_folder();
        let (faults, config) = faulty(&hsm);
        let token = start(config);
        until(&token, TokenState::Ok).await;
        faults.inject(function, fault, Some(pid(&token)), Some(1)).unwrap();

        let sealed = token.seal(data_key()).await;

        let status = token.status(0);
        assert!(sealed.is_ok(), "{function} {fault:?}: {sealed:?}");
        assert_eq!((status.epochs, status.workers_started), (epochs, workers), "{fault:?}");
        assert_eq!(status.failures.values().sum::<u64>(), 1, "{status:?}");
    }
}

#[tokio::test]
async fn a_request_that_the_token_refuses_is_not_tried_again() {
    for (fault, name) in
        [(DATA_LEN_RANGE, "CKR_DATA_LEN_RANGE"), (GENERAL_ERROR, "CKR_GENERAL_ERROR")]
    {
        let hsm = token_folder();
        let (faults, config) = faulty(&hsm);
        let token = start(config);
        until(&token, TokenState::Ok).await;
        faults.inject("C_Encrypt", fault, None, None).unwrap();

        let refused = token.seal(data_key()).await;

        // A general error too: the canary has shown that the token is well.
        let Err(TokenError::Refused { ckr }) = refused else { panic!("{refused:?}") };
        let status = token.status(0);
        assert_eq!(ckr.as_str(), name);
        assert_eq!((status.epochs, status.workers_started), (1, 1));
        assert_eq!(status.failures.get(name), Some(&1));
    }
}

#[tokio::test]
async fn a_call_that_hangs_costs_a_worker_and_no_request() {
    let hsm = token_folder();
    let (faults, mut config) = faulty(&hsm);
    config.deadline = Duration::from_secs(2);
    let token = start(config);
    until(&token, TokenState::Ok).await;
    faults.inject("C_Encrypt", Action::Hangs, Some(pid(&token)), None).unwrap();

    let sealed = token.seal(data_key()).await;

    assert!(sealed.is_ok(), "{sealed:?}");
    assert_eq!(token.status(0).workers_started, 2);
}

#[tokio::test]
async fn a_token_that_no_longer_signs_is_found_out_and_found_well_again() {
    let hsm = token_folder();
    let (faults, config) = faulty(&hsm);
    let token = start(config);
    until(&token, TokenState::Ok).await;

    faults.inject("C_Sign", GENERAL_ERROR, None, None).unwrap();
    let ill = until(&token, TokenState::Absent).await;
    faults.heal().unwrap();
    until(&token, TokenState::Ok).await;

    assert_eq!(ill.message, "the token's canary key does not sign: CKR_GENERAL_ERROR");
    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn a_locked_pin_is_tried_once() {
    let hsm = token_folder();
    let (faults, config) = faulty(&hsm);
    faults.inject("C_Login", PIN_LOCKED, None, None).unwrap();

    let token = start(config);
    let refused = until(&token, TokenState::PinRefused).await;

    let status = token.status(0);
    assert!(refused.message.contains("CKR_PIN_LOCKED"), "{}", refused.message);
    assert_eq!((status.workers_started, status.failures.get("CKR_PIN_LOCKED")), (1, Some(&1)));
}

#[tokio::test]
async fn a_pin_refused_at_a_new_epoch_is_not_tried_by_the_next_worker() {
    let hsm = token_folder();
    let (faults, config) = faulty(&hsm);
    let token = start(config);
    until(&token, TokenState::Ok).await;
    faults.inject("C_Login", PIN_LOCKED, Some(pid(&token)), None).unwrap();

    // Another process logs in and makes a key; this one opens the token again to see it.
    let key = token.create_key(KeyId::from_bytes([1; 12]), ALGORITHM, HOW).await;
    until(&token, TokenState::PinRefused).await;

    let status = token.status(1);
    assert!(key.is_ok(), "{key:?}");
    assert_eq!(token.seal(data_key()).await, Err(TokenError::PinRefused));
    assert_eq!((status.workers_started, status.failures.get("CKR_PIN_LOCKED")), (1, Some(&1)));
}

#[tokio::test]
async fn a_pin_refused_while_many_requests_wait_for_a_new_epoch_is_tried_once() {
    let hsm = token_folder();
    let (faults, mut config) = faulty(&hsm);
    config.threads = Some(8);
    let token = start(config);
    until(&token, TokenState::Ok).await;
    faults
        .order(&[
            Order::always("C_Encrypt", USER_NOT_LOGGED_IN),
            Order::always("C_Login", PIN_LOCKED),
        ])
        .unwrap();

    let mut requests = JoinSet::new();
    for _ in 0..64 {
        let token = token.clone();
        requests.spawn(async move { token.seal(data_key()).await });
    }

    while let Some(request) = requests.join_next().await {
        assert_eq!(request.unwrap(), Err(TokenError::PinRefused));
    }
    let status = token.status(0);
    assert_eq!((status.workers_started, status.failures.get("CKR_PIN_LOCKED")), (1, Some(&1)));
}

#[tokio::test]
async fn a_module_that_crashes_at_every_start_keeps_no_request_waiting() {
    let hsm = token_folder();
    let (faults, config) = faulty(&hsm);
    faults.inject("C_Initialize", Action::Crashes, None, None).unwrap();

    let token = start(config);
    let absent = until(&token, TokenState::Absent).await;
    assert_eq!(token.seal(data_key()).await, Err(TokenError::Unavailable));
    faults.heal().unwrap();
    until(&token, TokenState::Ok).await;

    assert_eq!(absent.message, "the worker ended before it answered");
}
