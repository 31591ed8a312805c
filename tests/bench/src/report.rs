//! What was measured, for people and for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use crate::floor::Floor;
use crate::issue::{Database, ratio};
use crate::key::Kind;

/// One run.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Run {
    pub(crate) clients: u16,
    pub(crate) certificates_per_second: f64,
    pub(crate) p50_ms: f64,
    pub(crate) p99_ms: f64,
    /// CPU of each process for a certificate, microseconds.
    pub(crate) cpu_us: BTreeMap<String, f64>,
    /// The clients' own.
    pub(crate) client_cpu_us: f64,
    /// All of PostgreSQL's, where it runs here.
    pub(crate) postgres_cpu_us: f64,
    /// Bytes.
    pub(crate) peak_memory: BTreeMap<String, u64>,
    /// For a certificate.
    pub(crate) journal_syncs: f64,
    /// For a certificate.
    pub(crate) database_commits: f64,
    /// Answers other than 200, by status.
    pub(crate) refused: BTreeMap<u16, u64>,
    /// How many of those with 429 or 503 did not say when to come back.
    pub(crate) without_retry_after: u64,
}

pub(crate) fn print(
    database: Database,
    key: Kind,
    floor: Floor,
    runs: &[Run],
    as_json: bool,
) -> anyhow::Result<()> {
    let mut counts: Vec<_> = runs.iter().map(|run| run.clients).collect();
    counts.dedup();
    counts.sort_unstable();
    counts.dedup();
    let medians: Vec<_> = counts.into_iter().filter_map(|count| median(runs, count)).collect();
    if as_json {
        let runs: Vec<_> = medians
            .iter()
            .map(|run| {
                json!({
                    "run": run,
                    "cpuRatio": ratio(run, &floor),
                    "rateRatio": run.certificates_per_second / floor.signatures_per_second,
                })
            })
            .collect();
        let all = json!({"database": database, "key": key, "floor": floor, "medians": runs});
        println!("{}", serde_json::to_string_pretty(&all)?);
        return Ok(());
    }
    println!("{} CA and CSRs, {database:?}", key.name());
    println!(
        "floor: {:.0} µs = a signature in the token, {:.0}, and two verifications, {:.0} each; \
         the token alone makes {:.0} signatures/s",
        floor.microseconds(),
        floor.signature_us,
        floor.verification_us,
        floor.signatures_per_second,
    );
    println!(
        "{:>7} {:>8} {:>6} {:>8} {:>8} {:>7} {:>6} {:>7} {:>7} {:>7} {:>8} {:>8} {:>7}",
        "clients",
        "cert/s",
        "rate",
        "p50 ms",
        "p99 ms",
        "CPU µs",
        "ratio",
        "api",
        "signer",
        "worker",
        "client",
        "postgres",
        "syncs",
    );
    for run in &medians {
        let cpu = |name: &str| run.cpu_us.get(name).copied().unwrap_or(f64::NAN);
        println!(
            "{:>7} {:>8.0} {:>6.2} {:>8.1} {:>8.1} {:>7.0} {:>6.2} {:>7.0} {:>7.0} {:>7.0} {:>8.0} {:>8.0} {:>7.2}",
            run.clients,
            run.certificates_per_second,
            run.certificates_per_second / floor.signatures_per_second,
            run.p50_ms,
            run.p99_ms,
            run.cpu_us.values().sum::<f64>(),
            ratio(run, &floor),
            cpu("api"),
            cpu("signer"),
            cpu("worker"),
            run.client_cpu_us,
            run.postgres_cpu_us,
            run.journal_syncs + run.database_commits,
        );
        if !run.refused.is_empty() {
            println!("        other answers: {:?}", run.refused);
        }
    }
    if let Some(run) = medians.last() {
        print_memory(run);
    }
    Ok(())
}

pub(crate) fn print_memory(run: &Run) {
    let mebibytes = |bytes: &u64| bytes / (1024 * 1024);
    let memory: Vec<_> = run
        .peak_memory
        .iter()
        .map(|(name, bytes)| format!("{name} {} MiB", mebibytes(bytes)))
        .collect();
    println!("peak memory: {}", memory.join(", "));
}

/// The run of so many clients whose rate is in the middle.
fn median(runs: &[Run], clients: u16) -> Option<Run> {
    let mut runs: Vec<_> = runs.iter().filter(|run| run.clients == clients).collect();
    runs.sort_by(|one, other| {
        one.certificates_per_second.total_cmp(&other.certificates_per_second)
    });
    runs.get(runs.len() / 2).map(|run| (*run).clone())
}
