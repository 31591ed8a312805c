//! `overload`: more clients than the service can serve.

use std::time::Duration;

use clap::Args;

use crate::issue::Database;
use crate::key::Kind;
use crate::measure::measure;
use crate::report;
use crate::scene::Scene;

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The API's database.
    #[arg(long, default_value = "sqlite")]
    database: Database,
    /// The kind of the CA's key and of the CSRs'.
    #[arg(long, default_value = "p256")]
    key: Kind,
    /// How many clients fill the service.
    #[arg(long, default_value_t = 64)]
    clients: u16,
    /// How many times as many ask then.
    #[arg(long, default_value_t = 4)]
    times: u16,
    /// How long they ask.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
}

/// The service is measured full before it is measured overloaded, for so long.
const FULL: Duration = Duration::from_secs(10);

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), options.key, false)?;
    let target = scene.target()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let full = runtime.block_on(measure(&mut scene, &target, options.clients, FULL))?;
    let clients = options.clients.saturating_mul(options.times);
    let lasting = Duration::from_secs(options.seconds);
    let over = runtime.block_on(measure(&mut scene, &target, clients, lasting))?;
    scene.installation.stop();

    println!("{} CA and CSRs, {:?}", options.key.name(), options.database);
    for run in [&full, &over] {
        println!(
            "{:>5} clients: {:>6.0} cert/s, p50 {:>6.1} ms, p99 {:>6.1} ms; other answers {:?}{}",
            run.clients,
            run.certificates_per_second,
            run.p50_ms,
            run.p99_ms,
            run.refused,
            if run.without_retry_after > 0 { " (some without Retry-After)" } else { "" },
        );
    }
    println!(
        "rate: {:.2} of the full one",
        over.certificates_per_second / full.certificates_per_second
    );
    report::print_memory(&over);
    Ok(())
}
