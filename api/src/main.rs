//! `chancery-api`: reads the configuration, starts the service, stops it when told.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use chancery_api::auth::password::Password;
use chancery_api::clock::SystemClock;
use chancery_api::config::{Config, ConfigFile};
use chancery_api::random::SystemRandom;
use chancery_api::reset_password::{Addresses, Reset, reset_password};
use chancery_api::service::Service;
use chancery_api::{log, metrics};
use clap::{Parser, Subcommand};
use rustix::fs::Mode;
use rustix::mm::{MlockAllFlags, mlockall};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getrlimit, set_dumpable_behavior, setrlimit, umask,
};
use sd_notify::NotifyState;
use tikv_jemallocator::Jemalloc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use zeroizing_alloc::ZeroAlloc;

/// Passwords pass through buffers of HTTP and TLS that no type of ours owns.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<Jemalloc> = ZeroAlloc(Jemalloc);

/// Chancery's API: who may have which certificate, and its record.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The folder of configuration, data and sockets.
    #[arg(long, global = true, env = "CHANCERY_HOME", default_value = "chancery-home")]
    home: PathBuf,
    /// Without one the service runs.
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// What an operator does on the host.
    #[command(subcommand)]
    Admin(AdminCommand),
}

#[derive(Subcommand)]
enum AdminCommand {
    /// Sets a password that must be changed at the next login; enables and unlocks the user. The
    /// password is the first line of standard input or of a file, never an argument.
    ResetPassword {
        /// Whose.
        #[arg(long, default_value = "admin")]
        username: String,
        /// A file whose first line is the password; standard input where it is left out.
        #[arg(long)]
        password_file: Option<PathBuf>,
        /// Takes the user out of every team whose ipWhiteList limits where its members come from, so
        /// that it can log in from anywhere. Who was an administrator by such a team stays one.
        #[arg(long)]
        from_anywhere: bool,
    },
}

fn main() -> ExitCode {
    let Arguments { home, command } = Arguments::parse();
    match run(&home, command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("chancery-api: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(home: &Path, command: Option<Command>) -> anyhow::Result<()> {
    chancery_shared::fail_point::arm();
    // Whatever this process writes is its user's alone.
    umask(Mode::RWXG | Mode::RWXO);
    let home = std::path::absolute(home).context("the home has no absolute path")?;
    let path = home.join("config/application.properties");
    let file = ConfigFile::read(&path, |name| std::env::var(name).ok())?;
    let config = Config::check(file, home)?;
    if let Some(Command::Admin(command)) = command {
        return reset(&config, &command);
    }
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

fn reset(config: &Config, command: &AdminCommand) -> anyhow::Result<()> {
    let AdminCommand::ResetPassword { username, password_file, from_anywhere } = command;
    let from = if *from_anywhere { Addresses::Any } else { Addresses::OfTeams };
    let password = match password_file {
        Some(path) => {
            let file = std::fs::File::open(path);
            first_line(file.with_context(|| format!("{} can't be read", path.display()))?)?
        }
        None => first_line(std::io::stdin())?,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let random = Arc::new(SystemRandom);
    let done = runtime.block_on(reset_password(config, random, username, password, from))?;
    let Reset { username, limiting } = done;
    eprintln!("chancery-api: {username} has a new password, to be changed at the next login");
    let teams = limiting.join(", ");
    match from {
        _ if limiting.is_empty() => {}
        Addresses::Any => eprintln!("chancery-api: {username} has left {teams}"),
        Addresses::OfTeams => eprintln!(
            "chancery-api: {username} can come only from where the ipWhiteList of {teams} allows; \
             with --from-anywhere it leaves these teams"
        ),
    }
    Ok(())
}

/// No password is as long as what is read at most.
fn first_line(from: impl Read) -> anyhow::Result<Password> {
    let mut line = String::new();
    let read = BufReader::new(from.take(8192)).read_line(&mut line);
    read.context("the password can't be read")?;
    Ok(Password::of_file(&line))
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
/// alone, not all of it is: past the limit this process would get no more memory. Keys that are
/// ready lie on pages that are locked one by one.
fn lock_memory() {
    let limit = getrlimit(Resource::Memlock);
    if limit.current.is_some()
        && setrlimit(Resource::Memlock, Rlimit { current: None, maximum: None }).is_err()
    {
        tracing::warn!(
            "passwords, and private keys of requests, may be written to swap: let this process lock \
             all of its memory (LimitMEMLOCK=infinity), or use encrypted swap or none"
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
