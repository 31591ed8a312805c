//! `issue`: certificates for CSRs.

use std::time::Duration;

use chancery_tests::Engine;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::floor::{self, Floor};
use crate::key::Kind;
use crate::measure::measure;
use crate::report::{self, Run};
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
    /// How many clients ask at the same time; several: one run after the other.
    #[arg(long, default_value = "64", value_delimiter = ',')]
    clients: Vec<u16>,
    /// How long each run is measured, after two seconds that are not.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How often each run is done; the median counts.
    #[arg(long, default_value_t = 1)]
    runs: usize,
    /// JSON instead of a table.
    #[arg(long)]
    json: bool,
}

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    pub(crate) fn engine(self) -> Engine {
        match self {
            Self::Sqlite => Engine::Sqlite,
            Self::Postgres => Engine::Postgres,
        }
    }
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), options.key, false)?;
    let target = scene.target()?;
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

/// What a certificate costs as a multiple of the floor.
pub(crate) fn ratio(run: &Run, floor: &Floor) -> f64 {
    run.cpu_us.values().sum::<f64>() / floor.microseconds()
}
