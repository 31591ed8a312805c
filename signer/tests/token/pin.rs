//! A wrong PIN is tried once, by whichever worker, and never again by itself.

use std::fs;

use crate::support::{config, data_key, start, start_with, token_folder, until};
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::TokenState;
use chancery_signer::token::TokenError;
use softhsm_test_harness::{USER_PIN, write_secret};

const REFUSED: &str = "CKR_PIN_INCORRECT";

#[tokio::test]
async fn a_wrong_pin_is_tried_once_and_a_restart_does_not_try_it_again() {
    let hsm = token_folder();
    write_secret(&hsm.pin_file(), "not the PIN").unwrap();

    let token = start_with(config(&hsm));
    until(&token, TokenState::PinRefused).await;
    assert_eq!(token.seal(data_key()).await, Err(TokenError::PinRefused));
    assert_eq!(token.status(0).failures.get(REFUSED), Some(&1));
    token.stop().await;
    let restarted = start_with(config(&hsm));
    until(&restarted, TokenState::PinRefused).await;

    let status = restarted.status(0);
    assert_eq!((status.workers_started, status.failures.len()), (0, 0), "{status:?}");
    assert_eq!(restarted.seal(data_key()).await, Err(TokenError::PinRefused));
}

#[tokio::test]
async fn a_changed_pin_file_is_tried_without_a_hand() {
    let hsm = token_folder();
    write_secret(&hsm.pin_file(), "not the PIN").unwrap();
    let token = start_with(config(&hsm));
    until(&token, TokenState::PinRefused).await;

    write_secret(&hsm.pin_file(), USER_PIN).unwrap();

    until(&token, TokenState::Ok).await;
    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn the_operator_can_clear_a_refusal_for_one_more_try() {
    let hsm = token_folder();
    write_secret(&hsm.pin_file(), "not the PIN").unwrap();
    let token = start_with(config(&hsm));
    until(&token, TokenState::PinRefused).await;

    let mut watch = token.watch();
    token.clear_pin_refusal().await;
    while token.status(0).failures.get(REFUSED) != Some(&2) {
        watch.changed().await.unwrap();
    }

    until(&token, TokenState::PinRefused).await;
    assert_eq!(token.status(0).workers_started, 2);
}

#[tokio::test]
async fn a_pin_that_the_key_worker_was_refused_is_not_tried_by_the_signing_worker() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    write_secret(&hsm.pin_file(), "not the PIN").unwrap();
    let id = KeyId::from_bytes([1; 12]);
    let (algorithm, how) = (KeyAlgorithm::EcdsaP256, SignatureAlgorithm::EcdsaSha256);

    let first = token.create_key(id, algorithm, how).await;
    let second = token.create_key(id, algorithm, how).await;

    assert_eq!((first, second), (Err(TokenError::PinRefused), Err(TokenError::PinRefused)));
    assert_eq!(token.status(0).failures.get(REFUSED), Some(&1));
    // What is open stays open: the refusal says nothing about it.
    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn the_pin_stands_in_no_argument_environment_or_file() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let worker = crate::support::pid(&token);

    for file in ["cmdline", "environ"] {
        // What can't be read gives nothing away either.
        let bytes = fs::read(format!("/proc/{worker}/{file}")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&bytes).contains(USER_PIN), "{file}");
    }
    for folder in [hsm.state_folder(), hsm.token_folder()] {
        assert!(!contains(&folder, USER_PIN.as_bytes()));
    }
}

#[tokio::test]
async fn a_pin_file_that_is_missing_or_public_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let hsm = token_folder();
    fs::set_permissions(hsm.pin_file(), fs::Permissions::from_mode(0o644)).unwrap();

    let token = start_with(config(&hsm));

    let absent = until(&token, TokenState::Absent).await;
    assert!(absent.message.contains("may be read by every user"), "{}", absent.message);
    fs::set_permissions(hsm.pin_file(), fs::Permissions::from_mode(0o600)).unwrap();
    until(&token, TokenState::Ok).await;
}

fn contains(folder: &std::path::Path, secret: &[u8]) -> bool {
    fs::read_dir(folder).unwrap().any(|entry| {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            return contains(&entry.path(), secret);
        }
        let bytes = fs::read(entry.path()).unwrap();
        bytes.windows(secret.len()).any(|window| window == secret)
    })
}
