//! The signing worker under its supervisor: killed, stopped, overloaded, without its folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::support::{config, data_key, pid, send, start, start_with, token_folder, until};
use chancery_shared::wire::v1::TokenState;
use chancery_signer::token::TokenError;
use rustix::process::Signal;
use softhsm_test_harness::SoftHsm;
use tokio::task::JoinSet;

#[tokio::test]
async fn sixty_four_requests_at_once_are_all_answered_through_a_killed_worker() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let mut requests = JoinSet::new();
    for _ in 0..64 {
        let token = token.clone();
        requests.spawn(async move {
            for _ in 0..20 {
                token.seal(data_key()).await?;
            }
            Ok::<(), TokenError>(())
        });
    }

    send(pid(&token), Signal::KILL);

    while let Some(request) = requests.join_next().await {
        assert_eq!(request.unwrap(), Ok(()));
    }
    assert_eq!(token.status(0).workers_started, 2);
    token.stop().await;
}

#[tokio::test]
async fn a_worker_outlives_the_signals_that_a_terminal_sends_to_all() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let worker = pid(&token);

    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        send(worker, signal);
        assert!(token.seal(data_key()).await.is_ok());
    }

    assert_eq!(pid(&token), worker);
    assert_eq!(token.status(0).workers_started, 1);
}

#[tokio::test]
async fn a_worker_that_hangs_is_replaced_and_its_requests_are_answered() {
    let hsm = token_folder();
    let mut quick = config(&hsm);
    quick.deadline = Duration::from_secs(2);
    let token = start_with(quick);
    until(&token, TokenState::Ok).await;
    let hanging = pid(&token);
    send(hanging, Signal::STOP);

    let sealed = token.seal(data_key()).await;

    assert!(sealed.is_ok(), "{sealed:?}");
    assert_ne!(pid(&token), hanging);
    assert!(!alive(hanging), "the hanging worker is still there");
}

#[tokio::test]
async fn a_full_queue_says_busy_at_once() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let worker = pid(&token);
    send(worker, Signal::STOP);
    let mut waiting = JoinSet::new();
    for _ in 0..300 {
        let token = token.clone();
        waiting.spawn(async move { token.seal(data_key()).await.map(drop) });
    }

    let mut busy = 0;
    while busy < 44 {
        assert_eq!(waiting.join_next().await.unwrap().unwrap(), Err(TokenError::Busy));
        busy += 1;
    }
    send(worker, Signal::CONT);

    while let Some(request) = waiting.join_next().await {
        assert_eq!(request.unwrap(), Ok(()));
    }
}

#[tokio::test]
async fn a_token_folder_that_goes_and_comes_back_signs_again_without_a_hand() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let away = hsm.root().join("away");
    fs::rename(hsm.token_folder(), &away).unwrap();

    // The canary finds out by itself.
    let gone = until(&token, TokenState::Absent).await;
    assert_eq!(token.seal(data_key()).await, Err(TokenError::Unavailable));
    fs::rename(&away, hsm.token_folder()).unwrap();
    let back = tokio::time::Instant::now();
    until(&token, TokenState::Ok).await;

    assert!(gone.message.contains("is not there"), "{}", gone.message);
    assert!(back.elapsed() < Duration::from_secs(5), "{:?}", back.elapsed());
    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn a_token_folder_replaced_by_its_copy_costs_no_request() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    token.seal(data_key()).await.unwrap();
    let (copied, away) = (hsm.root().join("copied"), hsm.root().join("away"));
    copy(&hsm.token_folder(), &copied);

    // As a restore from a backup does it: the same names, other files.
    fs::rename(hsm.token_folder(), &away).unwrap();
    fs::rename(&copied, hsm.token_folder()).unwrap();

    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn opening_and_signing_leave_the_token_folder_as_it_was() {
    let hsm = token_folder();
    let before = written(&hsm.token_folder());

    let token = start(&hsm).await;
    token.seal(data_key()).await.unwrap();
    token.stop().await;

    // A login that may write rewrites the token's main file.
    assert_eq!(written(&hsm.token_folder()), before);
}

#[tokio::test]
async fn a_token_that_is_not_there_at_the_start_is_found_when_it_appears() {
    let empty = SoftHsm::empty().unwrap();
    let token = start_with(config(&empty));
    let absent = until(&token, TokenState::Absent).await;
    let full = token_folder();

    fs::remove_dir(empty.token_folder()).unwrap();
    copy(&full.token_folder(), &empty.token_folder());
    until(&token, TokenState::Ok).await;

    assert_eq!(absent.message, "no slot holds the configured token");
    assert!(token.seal(data_key()).await.is_ok());
}

#[tokio::test]
async fn a_module_that_can_not_be_loaded_is_named() {
    let hsm = token_folder();
    let mut wrong = config(&hsm);
    wrong.module = hsm.configuration();

    let token = start_with(wrong);
    let absent = until(&token, TokenState::Absent).await;

    assert!(absent.message.contains("softhsm2.conf could not be loaded"), "{}", absent.message);
}

#[tokio::test]
async fn the_worker_is_confined_and_its_environment_is_only_what_was_configured() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let worker = pid(&token);

    let status = fs::read_to_string(format!("/proc/{worker}/status")).unwrap();
    // For no one but root: another process of the same user may not look inside.
    let environment = fs::read_to_string(format!("/proc/{worker}/environ"));
    let limits = fs::read_to_string(format!("/proc/{worker}/limits")).unwrap();

    assert!(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"), "{status}");
    if rustix::process::geteuid().is_root() {
        let configured = format!("SOFTHSM2_CONF={}\0", hsm.configuration().display());
        assert_eq!(environment.unwrap(), configured);
    } else {
        assert_eq!(environment.unwrap_err().kind(), std::io::ErrorKind::PermissionDenied);
    }
    let cores = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(cores.split_whitespace().nth(4), Some("0"), "{cores}");
    assert_eq!(
        token.sandbox().as_deref(),
        Some("workers are confined to their folders by Landlock")
    );
}

#[tokio::test]
async fn a_stopped_token_leaves_no_process() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let worker = pid(&token);

    token.stop().await;

    assert!(!alive(worker));
}

#[tokio::test]
async fn a_token_without_a_handle_leaves_no_process() {
    let hsm = token_folder();
    let token = start(&hsm).await;
    let worker = pid(&token);
    let mut watch = token.watch();

    drop(token);
    // The sender goes when the supervisor has ended.
    while watch.changed().await.is_ok() {}

    assert!(!alive(worker));
}

/// When each file was last written.
fn written(folder: &Path) -> Vec<(PathBuf, SystemTime)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(written(&path));
        } else {
            let modified = path.metadata().unwrap().modified().unwrap();
            files.push((path, modified));
        }
    }
    files.sort();
    files
}

fn alive(pid: u32) -> bool {
    fs::exists(format!("/proc/{pid}")).unwrap()
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
