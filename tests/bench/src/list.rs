//! `list`: all records in one answer.

use std::time::Duration;

use clap::Args;

use crate::database::Database;
use crate::key::Kind;
use crate::process::peak_memory;
use crate::scene::Scene;

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The API's database.
    #[arg(long, default_value = "sqlite")]
    database: Database,
    /// Certificates that the home has issued.
    #[arg(long, default_value_t = 1_000_000)]
    records: u64,
    /// How often the list is read.
    #[arg(long, default_value_t = 3)]
    runs: usize,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), Kind::P256, false)?;
    scene.seed(options.records)?;
    let target = scene.target()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!("GET /api/certs, {} records, {:?}", options.records, options.database);
    for _ in 0..options.runs {
        let came = runtime.block_on(target.read("/api/certs"))?;
        let [(_, api), ..] = scene.processes()?;
        println!(
            "first byte {:.1} ms, all {:.1} s, {} MB; peak memory of the API {} MiB",
            milliseconds(came.first),
            came.all.as_secs_f64(),
            came.bytes / 1_000_000,
            peak_memory(api)? / (1024 * 1024),
        );
    }
    scene.installation.stop();
    Ok(())
}
