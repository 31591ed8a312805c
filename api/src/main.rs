//! `chancery-api`: reads the configuration, starts the service, stops it when told.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use chancery_api::clock::SystemClock;
use chancery_api::config::{Config, ConfigFile};
use chancery_api::random::SystemRandom;
use chancery_api::service::Service;
use chancery_api::{log, metrics};
use clap::Parser;
use rustix::fs::Mode;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit, umask,
};
use sd_notify::NotifyState;
use tokio::signal::unix::{Signal, SignalKind, signal};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Chancery's API: who may have which certificate, and its record.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder of configuration, data and sockets.
    #[arg(long, env = "CHANCERY_HOME", default_value = "chancery-home")]
    home: PathBuf,
}

fn main() -> ExitCode {
    match run(&Arguments::parse().home) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chancery-api: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(home: &Path) -> anyhow::Result<()> {
    chancery_shared::fail_point::arm();
    // Whatever this process writes is its user's alone.
    umask(Mode::RWXG | Mode::RWXO);
    let home = std::path::absolute(home).context("the home has no absolute path")?;
    let path = home.join("config/application.properties");
    let file = ConfigFile::read(&path, |name| std::env::var(name).ok())?;
    let config = Config::check(file, home)?;
    log::start(&config.log_level)?;
    forbid_core_dumps();
    lock_memory();
    allow_many_connections();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    if provider.install_default().is_err() {
        anyhow::bail!("the process has a crypto provider already");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(serve(config))
}

async fn serve(config: Config) -> anyhow::Result<()> {
    // Before anything starts: a signal that comes early is not lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let counters = metrics::install()?;
    let start = Service::start(config, Arc::new(SystemClock), Arc::new(SystemRandom), counters);
    let service = tokio::select! {
        started = start => started?,
        () = told(&mut terminate, &mut interrupt) => return Ok(()),
    };
    let config = &service.state().config;
    tracing::info!(address = %config.address, port = config.port, "ready for requests");
    notify(NotifyState::Ready);
    told(&mut terminate, &mut interrupt).await;
    tracing::info!("stopping");
    notify(NotifyState::Stopping);
    service.stop().await;
    tracing::info!("stopped");
    Ok(())
}

async fn told(terminate: &mut Signal, interrupt: &mut Signal) {
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// Tells systemd, where it is there to be told.
fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "systemd was not told");
    }
}

/// A dump would hold private keys and passwords.
fn forbid_core_dumps() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let forbidden = setrlimit(Resource::Core, none)
        .and_then(|()| set_dumpable_behavior(DumpableBehavior::NotDumpable));
    if let Err(error) = forbidden {
        tracing::warn!(%error, "a crash may write the memory of this process to a file");
    }
}

/// Private keys and passwords must not be written to swap. Where memory may be locked up to a limit
/// alone, nothing is: past the limit this process would get no more memory at all.
fn lock_memory() {
    let limit = getrlimit(Resource::Memlock);
    if limit.current.is_some()
        && setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None }).is_err()
    {
        tracing::warn!(
            "private keys in memory may be written to swap: let this process lock all of its memory \
             (LimitMEMLOCK=infinity), or use encrypted swap or none"
        );
        return;
    }
    // Pages as they are touched: threads have large stacks that they never use.
    let flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT;
    if let Err(error) = mlockall(flags) {
        tracing::warn!(%error, "private keys in memory may be written to swap");
    }
}

/// Thousands of idle connections must not use up what the database and the signer need.
fn allow_many_connections() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, raised) {
        tracing::warn!(%error, "the limit of open files stays at {:?}", limit.current);
    }
}
