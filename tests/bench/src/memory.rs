//! `memory`: what the processes hold after so many certificates.

use std::time::{Duration, Instant};

use anyhow::ensure;
use chancery_tests::load::Target;
use clap::Args;

use crate::database::Database;
use crate::key::Kind;
use crate::process::memory;
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
    /// How many clients ask at the same time.
    #[arg(long, default_value_t = 64)]
    clients: u16,
    /// After how many certificates to look, in ascending order.
    #[arg(long, default_value = "50000,100000", value_delimiter = ',')]
    after: Vec<usize>,
}

/// So long the clients ask before their certificates are counted.
const TURN: Duration = Duration::from_secs(2);

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), options.key, false)?;
    let target = scene.target()?;
    let processes = scene.processes()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    println!("{} CA and CSRs, {:?}, MiB", options.key.name(), options.database);
    println!("certificates     api  signer  worker");
    let mut issued = 0;
    for after in &options.after {
        while issued < *after {
            issued += runtime.block_on(turn(&target, options.clients))?;
        }
        print!("{issued:>12}");
        for (_, pid) in processes {
            print!("{:>8}", memory(pid)? / (1024 * 1024));
        }
        println!();
    }
    scene.installation.stop();
    Ok(())
}

/// How many certificates the clients got.
async fn turn(target: &Target, clients: u16) -> anyhow::Result<usize> {
    let from = Instant::now();
    let seen = target.clients(clients.into(), from, from + TURN).await?;
    ensure!(!seen.took.is_empty(), "no certificate was issued: {:?}", seen.refused);
    Ok(seen.took.len())
}
