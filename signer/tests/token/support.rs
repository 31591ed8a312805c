//! What the token tests share: a token that is set up, a signer's view of it, patience.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use chancery_shared::wire::v1::TokenState;
use chancery_signer::clock::SystemClock;
use chancery_signer::token::setup::init_token;
use chancery_signer::token::{Sandbox, Secret, Standing, SystemCalls, Token, TokenConfig};
use rustix::process::{Pid, Signal, kill_process};
use softhsm_test_harness::{LABEL, SO_PIN, SoftHsm, USER_PIN};

/// The end of a test that hangs, not a measure of anything.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

/// A token folder with canary and seal key.
pub(crate) fn token_folder() -> SoftHsm {
    SoftHsm::from_template(program(), |empty| {
        // A runtime of its own, on a thread of its own: the test's may not be blocked.
        std::thread::scope(|scope| {
            let made = scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
                runtime.block_on(init_token(&config(empty), so_pin(), user_pin()))?;
                Ok::<(), anyhow::Error>(())
            });
            made.join().unwrap()
        })
    })
    .unwrap()
}

pub(crate) fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_chancery-signer"))
}

pub(crate) fn so_pin() -> Secret {
    Secret::new(SO_PIN.into())
}

pub(crate) fn user_pin() -> Secret {
    Secret::new(USER_PIN.into())
}

pub(crate) fn config(hsm: &SoftHsm) -> TokenConfig {
    TokenConfig {
        name: "Local Token".to_owned(),
        module: SoftHsm::module().unwrap(),
        serial: None,
        label: Some(LABEL.to_owned()),
        environment: hsm.environment(),
        pin_file: hsm.pin_file(),
        folder: hsm.token_folder(),
        max_keys: 100,
        threads: Some(2),
        deadline: Duration::from_secs(10),
        state_folder: hsm.state_folder(),
        program: PathBuf::from(program()),
        sandbox: Sandbox::Required,
        system_calls: SystemCalls::Local,
    }
}

pub(crate) fn start_with(config: TokenConfig) -> Token {
    Token::start(config, Arc::new(SystemClock))
}

/// A token that signs.
pub(crate) async fn start(hsm: &SoftHsm) -> Token {
    let token = start_with(config(hsm));
    until(&token, TokenState::Ok).await;
    token
}

pub(crate) async fn until(token: &Token, state: TokenState) -> Standing {
    until_it(token, |standing| standing.state == state).await
}

/// Waits for a change of the token's standing, and fails with its status.
pub(crate) async fn until_it(token: &Token, reached: impl Fn(&Standing) -> bool) -> Standing {
    let mut watch = token.watch();
    let reached = tokio::time::timeout(PATIENCE, watch.wait_for(|now| reached(now))).await;
    let Ok(Ok(standing)) = reached else { panic!("the token is {:?}", token.status(0)) };
    standing.clone()
}

pub(crate) fn pid(token: &Token) -> u32 {
    token.watch().borrow().worker_pid.unwrap()
}

pub(crate) fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    kill_process(pid, signal).unwrap();
}

pub(crate) fn data_key() -> Secret {
    Secret::new(vec![7; 32])
}
