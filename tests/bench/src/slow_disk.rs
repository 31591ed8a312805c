//! `slow-disk`: what becomes of the rate where each sync takes its time.

use std::time::Duration;

use anyhow::Context as _;
use chancery_tests::sabotage::DiskOrder;
use clap::Args;

use crate::issue::Database;
use crate::key::Kind;
use crate::measure::measure;
use crate::scene::Scene;

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The API's database.
    #[arg(long, default_value = "sqlite")]
    database: Database,
    /// The kind of the CA's key and of the CSRs'.
    #[arg(long, default_value = "rsa2048")]
    key: Kind,
    /// How many clients ask at the same time.
    #[arg(long, default_value_t = 64)]
    clients: u16,
    /// How much longer each sync takes.
    #[arg(long, default_value_t = 5)]
    milliseconds: i32,
    /// How long each run is measured.
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// How often both runs are done, in turn; the median ratio counts.
    #[arg(long, default_value_t = 5)]
    runs: usize,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), options.key, true)?;
    let target = scene.target()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let lasting = Duration::from_secs(options.seconds);
    let slow = DiskOrder {
        call: "sync",
        how: "delay",
        number: options.milliseconds,
        below: scene.installation.home().path().to_owned(),
    };
    println!("{} CA and CSRs, {:?}", options.key.name(), options.database);
    let mut ratios = Vec::new();
    for _ in 0..options.runs {
        let mut rates = Vec::new();
        for orders in [&[][..], std::slice::from_ref(&slow)] {
            scene.installation.home().sabotage().disk(orders)?;
            let run = runtime.block_on(measure(&mut scene, &target, options.clients, lasting))?;
            rates.push(run.certificates_per_second);
        }
        let [quick, slow] = rates[..] else { continue };
        ratios.push(slow / quick);
        println!("{quick:.0} cert/s, with slow syncs {slow:.0}: {:.2}", slow / quick);
    }
    scene.installation.stop();
    ratios.sort_unstable_by(f64::total_cmp);
    let median = ratios.get(ratios.len() / 2).context("no run")?;
    println!("syncs of {} ms more keep {median:.2} of the rate", options.milliseconds);
    Ok(())
}
