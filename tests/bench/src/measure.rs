//! One run: clients that ask without a pause, and what it cost whom.

use std::time::{Duration, Instant};

use anyhow::ensure;
use chancery_tests::load::Target;

use crate::process::{cpu, own_cpu, peak_memory};
use crate::report::Run;
use crate::scene::{Scene, postgres_cpu};

/// Connections are opened and caches filled meanwhile.
const WARM_UP: Duration = Duration::from_secs(2);

/// Puts so many clients on the service, for two seconds that do not count and as long as is
/// `measured`.
pub(crate) async fn measure(
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
        without_retry_after: seen.without_retry_after,
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
