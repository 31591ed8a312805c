//! Keys made, destroyed and swept by the key worker; data keys sealed; tokens made.

use std::fs;

use crate::support::{config, data_key, so_pin, start, start_with, token_folder, until, user_pin};
use chancery_shared::id::KeyId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_signer::token::setup::{SetupError, init_token};
use chancery_signer::token::{Secret, TokenError};
use softhsm_test_harness::SoftHsm;

const ALGORITHM: KeyAlgorithm = KeyAlgorithm::EcdsaP256;
const HOW: SignatureAlgorithm = SignatureAlgorithm::EcdsaSha256;

fn id(number: u8) -> KeyId {
    KeyId::from_bytes([number; 12])
}

#[tokio::test]
async fn a_key_is_tried_before_it_is_returned_and_only_as_it_may_be_used() {
    let hsm = token_folder();
    let token = start(&hsm).await;

    token.create_key(id(1), ALGORITHM, HOW).await.unwrap();

    let status = token.status(1);
    assert_eq!((status.trial_signatures, status.signatures), (1, 0));
    // One epoch for the start, one for the new key.
    assert_eq!(status.epochs, 2);
    let wrong = token.create_key(id(2), ALGORITHM, SignatureAlgorithm::Ed25519).await;
    assert_eq!(wrong, Err(TokenError::WrongAlgorithm));
}

#[tokio::test]
async fn a_token_holds_no_more_keys_than_it_may() {
    let hsm = token_folder();
    let mut small = config(&hsm);
    small.max_keys = 1;
    let token = start_with(small);
    token.create_key(id(1), ALGORITHM, HOW).await.unwrap();

    let second = token.create_key(id(2), ALGORITHM, HOW).await;
    token.destroy_key(id(1)).await.unwrap();
    let third = token.create_key(id(3), ALGORITHM, HOW).await;

    assert_eq!(second, Err(TokenError::KeyLimit { max: 1 }));
    assert!(third.is_ok(), "{third:?}");
}

#[tokio::test]
async fn the_sweep_destroys_what_is_pending_and_reports_what_no_one_knows() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    for number in 1..=3 {
        token.create_key(id(number), ALGORITHM, HOW).await.unwrap();
    }
    let slot = fs::read_dir(hsm.token_folder()).unwrap().next().unwrap().unwrap().path();
    let debris = slot.join("00000000-0000-0000-0000-000000000000.object");
    fs::write(&debris, b"").unwrap();

    let report = token.sweep(vec![id(1), id(9)], vec![id(2), id(4)]).await.unwrap();

    assert_eq!(report.destroyed, vec![id(1)]);
    assert_eq!(report.missing, vec![id(4)]);
    let unknown: Vec<_> = report.unknown.iter().map(|object| object.label.clone()).collect();
    assert_eq!(unknown, vec![id(3).to_string()]);
    token.note_sweep(&report);
    let status = token.status(3);
    assert_eq!((status.summary.unknown_keys, status.unknown_objects), (1, report.unknown.clone()));
    assert!(token.lacks(id(4)) && !token.lacks(id(2)));
    assert_eq!(report.empty_files, vec![debris]);
}

#[tokio::test]
async fn a_destroyed_key_is_gone_from_the_copies_too() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    token.create_key(id(1), ALGORITHM, HOW).await.unwrap();
    let copies = hsm.state_folder().join("workers/Local_20Token/copies/now");
    let (with, there) = (files(&copies), files(&hsm.token_folder()));

    token.destroy_key(id(1)).await.unwrap();

    assert_eq!(with.len(), there.len());
    assert_eq!(files(&copies).len(), files(&hsm.token_folder()).len());
    assert!(files(&copies).len() < with.len());
}

#[tokio::test]
async fn an_emptied_token_file_is_restored_before_the_next_start() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    token.create_key(id(1), ALGORITHM, HOW).await.unwrap();
    token.stop().await;
    // What a kill at the wrong moment of a login leaves.
    let slot = fs::read_dir(hsm.token_folder()).unwrap().next().unwrap().unwrap().path();
    fs::write(slot.join("token.object"), b"").unwrap();

    let token = start(&hsm).await;

    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn a_data_key_comes_back_only_from_its_own_blob() {
    let hsm = token_folder();
    let token = start(&hsm).await;

    let blob = token.seal(data_key()).await.unwrap();
    let opened = token.unseal(&blob).await.unwrap();

    assert_eq!(opened.expose(), data_key().expose());
    assert_ne!(blob, token.seal(data_key()).await.unwrap());
    for position in [0, 1, 13, blob.len() - 1] {
        let mut broken = blob.clone();
        broken[position] ^= 1;
        assert_eq!(token.unseal(&broken).await.map(drop), Err(TokenError::SealBroken));
    }
    // The token was never at fault.
    assert_eq!(token.status(0).workers_started, 1);
    assert_eq!(token.status(0).epochs, 1);
}

#[tokio::test]
async fn nothing_but_a_data_key_of_32_bytes_is_sealed() {
    let hsm = token_folder();
    let token = start(&hsm).await;

    for length in [0, 16, 31, 33] {
        let refused = token.seal(Secret::new(vec![1; length])).await;
        assert_eq!(refused, Err(TokenError::NotADataKey), "{length}");
    }
}

#[tokio::test]
async fn a_token_is_made_once_and_never_over_another() {
    let hsm = SoftHsm::empty().unwrap();

    let made = init_token(&config(&hsm), so_pin(), user_pin()).await.unwrap();
    let again = init_token(&config(&hsm), so_pin(), user_pin()).await;

    assert!(matches!(again, Err(SetupError::TokenExists)), "{again:?}");
    let mut by_serial = config(&hsm);
    by_serial.serial = Some(made.serial.clone());
    by_serial.label = None;
    let token = start_with(by_serial);
    until(&token, chancery_shared::wire::v1::TokenState::Ok).await;
    let summary = token.summary(0);
    assert_eq!((summary.model.as_str(), summary.serial), ("SoftHSM v2", made.serial));
    assert_eq!(summary.key_algorithms, KeyAlgorithm::ALL);
}

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(self::files(&path)) } else { files.push(path) }
    }
    files
}
