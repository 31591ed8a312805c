//! `issue`: certificates for CSRs.

use std::time::{Duration, Instant};

use anyhow::ensure;
use chancery_tests::load::Target;
use clap::Args;

use crate::database::Database;
use crate::floor::{self, Floor};
use crate::key::Kind;
use crate::process::{cpu, own_cpu, peak_memory};
use crate::report::{self, Run};
use crate::scene::{Scene, postgres_cpu};

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The API's database.
    #[arg(long, default_value = "sqlite")]
    database: Database,
    /// The kind of the CA's key and of the CSRs'.
    #[arg(long, default_value = "p256")]
    key: Kind,
    /// How many clients ask at the same time; several: one run after the other.
    #[arg(long, default_value = "64", value_delimiter = ',')]
    clients: Vec<u16>,
    /// How long each run is measured, after two seconds that are not.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How often each run is done; the median counts.
    #[arg(long, default_value_t = 1)]
    runs: usize,
    /// Certificates that the home has already issued before the first run.
    #[arg(long, default_value_t = 0)]
    records: u64,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// Connections are opened and caches filled meanwhile.
const WARM_UP: Duration = Duration::from_secs(2);

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), options.key)?;
    if options.records > 0 {
        scene.seed(options.records)?;
    }
    let token = scene.administrator.token().unwrap_or_default().to_owned();
    let installation = &scene.installation;
    let root = installation.root_pem();
    let target = Target::new(installation.port(), &root, &token, &scene.bodies)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut runs = Vec::new();
    for _ in 0..options.runs {
        for clients in &options.clients {
            let measured = Duration::from_secs(options.seconds);
            runs.push(runtime.block_on(measure(&mut scene, &target, *clients, measured))?);
        }
    }
    scene.installation.stop();
    let floor = floor::measure(scene.installation.home(), &scene.key_id, options.key)?;
    report::print(options.database, options.key, floor, &runs, options.json)
}

async fn measure(
    scene: &mut Scene,
    target: &Target,
    clients: u16,
    measured: Duration,
) -> anyhow::Result<Run> {
    let processes = scene.processes()?;
    let from = Instant::now() + WARM_UP;
    let until = from + measured;
    let load = {
        let target = target.clone();
        tokio::spawn(async move { target.clients(clients.into(), from, until).await })
    };
    tokio::time::sleep_until(from.into()).await;
    let before = Used::of(&processes)?;
    let syncs = scene.syncs()?;
    tokio::time::sleep_until(until.into()).await;
    let after = Used::of(&processes)?;
    let syncs_after = scene.syncs()?;
    let seen = load.await??;
    ensure!(!seen.took.is_empty(), "no certificate was issued: {:?}", seen.refused);

    let certificates = u32::try_from(seen.took.len())?;
    let each = |used: Duration| used.as_secs_f64() * 1e6 / f64::from(certificates);
    let cpu_us = processes
        .iter()
        .zip(before.processes.iter().zip(&after.processes))
        .map(|((name, _), (before, after))| {
            ((*name).to_owned(), each(after.saturating_sub(*before)))
        })
        .collect();
    let peak_memory = processes
        .iter()
        .map(|(name, pid)| Ok(((*name).to_owned(), peak_memory(*pid)?)))
        .collect::<anyhow::Result<_>>()?;
    let per_certificate = |before: u64, after: u64| {
        u32::try_from(after - before).map(|syncs| f64::from(syncs) / f64::from(certificates))
    };
    Ok(Run {
        clients,
        certificates_per_second: f64::from(certificates) / measured.as_secs_f64(),
        p50_ms: seen.percentile(50),
        p99_ms: seen.percentile(99),
        cpu_us,
        client_cpu_us: each(after.own.saturating_sub(before.own)),
        postgres_cpu_us: each(after.postgres.saturating_sub(before.postgres)),
        peak_memory,
        journal_syncs: per_certificate(syncs[0], syncs_after[0])?,
        database_commits: per_certificate(syncs[1], syncs_after[1])?,
        refused: seen.refused,
    })
}

/// CPU times at one moment.
struct Used {
    processes: Vec<Duration>,
    own: Duration,
    postgres: Duration,
}

impl Used {
    fn of(processes: &[(&str, i32)]) -> anyhow::Result<Self> {
        let processes = processes.iter().map(|(_, pid)| cpu(*pid)).collect::<Result<_, _>>()?;
        Ok(Self { processes, own: own_cpu(), postgres: postgres_cpu()? })
    }
}

/// What a certificate costs as a multiple of the floor.
pub(crate) fn ratio(run: &Run, floor: &Floor) -> f64 {
    run.cpu_us.values().sum::<f64>() / floor.microseconds()
}
