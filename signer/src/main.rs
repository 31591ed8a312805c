//! `chancery-signer`: reads its configuration, confines itself, serves, and stops in order.
//!
//! Started with a worker's name as its first argument it is a token worker instead.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chancery_shared::fail_point;
use chancery_signer::admission::AdmittedUid;
use chancery_signer::clock::{Clock, SystemClock};
use chancery_signer::config::Config;
use chancery_signer::service::{ApiService, OperatorService};
use chancery_signer::{sandbox, socket, startup, token};
use clap::Parser;
use tikv_jemallocator::Jemalloc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use zeroizing_alloc::ZeroAlloc;

/// PINs and data keys pass through buffers that no type of ours owns, in the signer and in its workers.
/// The vendor's library has the C library's allocator.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<Jemalloc> = ZeroAlloc(Jemalloc);

/// Holds the CA keys' power and decides for itself what it signs.
#[derive(Debug, Parser)]
#[command(version)]
struct Arguments {
    /// Folder with config/signer.toml and the signer's files.
    #[arg(long, env = "CHANCERY_HOME")]
    home: PathBuf,
}

/// Requests in flight at the end may take so long.
const DRAIN: Duration = Duration::from_secs(4);

fn main() -> ExitCode {
    fail_point::arm();
    token::run_worker_if_asked();
    let arguments = Arguments::parse();
    tracing_subscriber::fmt()
        .json()
        .with_writer(std::io::stderr)
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("CHANCERY_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("info")),
        )
        .init();
    // A broken invariant here must not go on with half a state.
    std::panic::set_hook(Box::new(|panic| {
        tracing::error!(%panic, "a broken invariant ends the signer");
        std::process::abort();
    }));
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            tracing::error!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let program = std::env::current_exe().context("where this program is")?;
    let config = Config::load(&arguments.home, &program)?;
    let sandbox = sandbox::confine(&config, &program)?;
    for sentence in &sandbox {
        tracing::info!("{sentence}");
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let code = runtime.block_on(serve(config, sandbox));
    runtime.shutdown_timeout(Duration::from_millis(100));
    code
}

async fn serve(config: Config, sandbox: Vec<String>) -> anyhow::Result<ExitCode> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let run = config.home.join("run");
    let (api, operator) = (AdmittedUid(config.api_uid), AdmittedUid(config.operator_uid));
    let group = config.api_gid;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    // The sockets come first: a second signer on the same home stops here, before the journal.
    let api_socket = socket::bind(&run.join("signer.sock"), 0o660, group)
        .with_context(|| format!("{} can't be opened", run.join("signer.sock").display()))?;
    let operator_socket = socket::bind(&run.join("operator.sock"), 0o600, None)
        .with_context(|| format!("{} can't be opened", run.join("operator.sock").display()))?;

    let start = move || startup::start(config, clock, sandbox);
    let (signer, mut beginning) = tokio::task::spawn_blocking(start).await??;
    // Those who connected meanwhile wait; after this they hear the truth about the journal.
    beginning.journal(&signer).await;
    let (stop, stopping) = watch::channel(false);
    let chores = tokio::spawn(startup::chores(Arc::clone(&signer), beginning, stopping.clone()));
    let api = socket::serve(api_socket, api, ApiService(Arc::clone(&signer)), stopping.clone());
    let operator =
        socket::serve(operator_socket, operator, OperatorService(Arc::clone(&signer)), stopping);
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Ready]);
    tracing::info!(signer_id = %signer.journal.signer_id(), "the signer serves");

    let code = tokio::select! {
        _ = terminate.recv() => ExitCode::SUCCESS,
        _ = interrupt.recv() => ExitCode::SUCCESS,
        () = signer.journal.poisoned() => {
            tracing::error!(
                "the disk did not sync the journal; a page that failed to sync is not trusted \
                 again: the signer stops. Check the disk, then start it again"
            );
            ExitCode::FAILURE
        }
    };

    // Stop accepting, let requests in flight end, then the workers, then the journal.
    tracing::info!("the signer stops");
    let _ = sd_notify::notify(&[sd_notify::NotifyState::Stopping]);
    stop.send_replace(true);
    let drained = async {
        let _ = tokio::join!(api, operator, chores);
    };
    if tokio::time::timeout(DRAIN, drained).await.is_err() {
        tracing::warn!("requests were still in flight; the next start closes them in the journal");
    }
    for token in signer.tokens.values() {
        token.clone().stop().await;
    }
    signer.journal.clone().close().await;
    for name in ["signer.sock", "operator.sock"] {
        let _ = std::fs::remove_file(run.join(name));
    }
    Ok(code)
}
