//! `start`: from the start of the processes to the first answer that says ready.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use serde_json::Value;

use crate::database::Database;
use crate::key::Kind;
use crate::scene::Scene;

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The API's database.
    #[arg(long, default_value = "sqlite")]
    database: Database,
    /// Certificates that the home has already issued; several: one home that grows.
    #[arg(long, default_value = "0,1000000", value_delimiter = ',')]
    records: Vec<u64>,
    /// How often it starts with each; the median counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

/// How long one start took.
#[derive(Clone, Copy, Debug)]
struct Start {
    /// From the signer's start until it listens.
    signer: Duration,
    /// From the signer's start until the service is ready.
    ready: Duration,
    /// Entries of the journal that the first reconciliation read.
    reconciled: u64,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), Kind::P256, false)?;
    let mut records = options.records.clone();
    records.sort_unstable();
    println!(
        "{:>10} {:>11} {:>10} {:>18}",
        "records", "signer ms", "ready ms", "entries reconciled"
    );
    let mut seeded = 0;
    for records in records {
        scene.seed(records - seeded)?;
        seeded = records;
        let mut starts =
            (0..options.runs).map(|_| start(&mut scene)).collect::<anyhow::Result<Vec<_>>>()?;
        starts.sort_by_key(|start| start.ready);
        let Start { signer, ready, reconciled } =
            starts.get(starts.len() / 2).context("no start")?;
        let (signer, ready) = (signer.as_millis(), ready.as_millis());
        println!("{records:>10} {signer:>11} {ready:>10} {reconciled:>18}");
    }
    Ok(())
}

fn start(scene: &mut Scene) -> anyhow::Result<Start> {
    scene.installation.stop();
    let began = Instant::now();
    scene.installation.start_signer();
    let signer = began.elapsed();
    scene.installation.start_api();
    scene.installation.wait_until_ready();
    let ready = began.elapsed();
    let pass = scene.reconciled()?;
    let reconciled = pass.get("entries").and_then(Value::as_u64).context("no count of entries")?;
    Ok(Start { signer, ready, reconciled })
}
