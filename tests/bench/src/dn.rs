//! `dn`: certificates with a key pair and a PKCS#12 file made by the service.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::ensure;
use chancery_tests::load::percentile;
use chancery_tests::{Installation, Plan, patience};
use clap::Args;
use serde_json::json;
use tokio::task::JoinSet;

use crate::database::Database;
use crate::key::Kind;
use crate::process::cpu;
use crate::scene::{CA, Scene};

/// What to measure.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// The API's database.
    #[arg(long, default_value = "sqlite")]
    database: Database,
    /// The kind of the CA's key and of those that the service makes.
    #[arg(long, default_value = "p256")]
    key: Kind,
    /// How many clients ask at the same time.
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// How many requests each makes.
    #[arg(long, default_value_t = 16)]
    requests: usize,
    /// Whether RSA keys are ready before the first request, and as many as there are requests.
    #[arg(long)]
    pooled: bool,
}

const PATH: &str = "/api/certs/request";

/// What the API counts of its own work, in seconds.
const DERIVATION: &str = "chancery_key_derivation_cpu_seconds_sum";
const GENERATION: &str = "chancery_key_generation_duration_seconds_sum";

/// Keys that are ready: `keys.pool.size` below.
const POOL: usize = 64;

const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let requests = options.clients * options.requests;
    ensure!(requests <= POOL || !options.pooled, "a pool has room for {POOL} keys");
    let api_lines = if options.pooled {
        vec!["keys.pool.size=64", "keys.pool.refill.per.minute=6000"]
    } else {
        vec!["keys.pool.size=0"]
    };
    let plan = Plan { engine: options.database.engine(), api_lines, ..Plan::default() };
    let mut scene = Scene::of(Installation::start_as(plan), options.key)?;
    let target = scene.target()?;
    let body = json!({
        "caName": CA,
        "dn": "CN=host.bench.example.test, O=Bench",
        "csrGeneratorName": options.key.name(),
        "subjectAltNames": ["DNS:host.bench.example.test"],
        "p12Password": "open sesame",
    });
    let body = body.to_string();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    // Connections, caches, the data key, and the size that the pool is to keep.
    runtime.block_on(target.post(PATH, &body, 2))?;
    if options.pooled {
        wait_for_pool(&scene, requests)?;
    }

    let processes = scene.processes()?;
    let used = || processes.iter().map(|(_, pid)| cpu(*pid)).collect::<anyhow::Result<Vec<_>>>();
    let (counted, before) = (counters(&scene), used()?);
    let took = runtime.block_on(async {
        let mut clients = JoinSet::new();
        for _ in 0..options.clients {
            let (target, body, requests) = (target.clone(), body.clone(), options.requests);
            clients.spawn(async move { target.post(PATH, &body, requests).await });
        }
        let mut took = Vec::new();
        while let Some(client) = clients.join_next().await {
            took.extend(client??.0);
        }
        took.sort_unstable();
        anyhow::Ok(took)
    })?;
    let (after, counted_after) = (used()?, counters(&scene));

    let requests = u32::try_from(requests)?;
    let each = |seconds: f64| seconds * 1e3 / f64::from(requests);
    let grown =
        |name: &str| counted_after.get(name).unwrap_or(&0.0) - counted.get(name).unwrap_or(&0.0);
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!("{} keys, {:?}, {} clients", options.key.name(), options.database, options.clients);
    println!(
        "{requests} certificates with PKCS #12: p50 {:.1} ms, p99 {:.1} ms",
        milliseconds(percentile(&took, 50)),
        milliseconds(percentile(&took, 99)),
    );
    let derivation = each(grown(DERIVATION));
    let mut all = 0.0;
    for ((name, _), (before, after)) in processes.iter().zip(before.iter().zip(&after)) {
        let own = each(after.saturating_sub(*before).as_secs_f64());
        all += own;
        println!("CPU of {name}: {own:.2} ms each");
    }
    println!(
        "of these, key derivations: {derivation:.2} ms; beside them: {:.2} ms",
        all - derivation
    );
    println!("keys made while a request waited: {:.2} ms each", each(grown(GENERATION)));
    for outcome in ["hit", "miss"] {
        let name = pool_requests(options.key, outcome);
        println!("pool {outcome}: {}", grown(&name));
    }
    scene.installation.stop();
    Ok(())
}

fn pool_requests(key: Kind, outcome: &str) -> String {
    format!("chancery_key_pool_requests_total{{key=\"{}\",outcome=\"{outcome}\"}}", key.name())
}

/// All that the API counts, by name and labels; a name's labels together, too.
fn counters(scene: &Scene) -> BTreeMap<String, f64> {
    let mut counters = BTreeMap::new();
    for line in scene.installation.metrics().lines() {
        let Some((name, value)) = line.rsplit_once(' ') else { continue };
        let Ok(value) = value.parse::<f64>() else { continue };
        counters.insert(name.to_owned(), value);
        if let Some((family, _)) = name.split_once('{') {
            *counters.entry(family.to_owned()).or_default() += value;
        }
    }
    counters
}

/// Until so many keys are ready.
fn wait_for_pool(scene: &Scene, keys: usize) -> anyhow::Result<()> {
    let keys = f64::from(u32::try_from(keys)?);
    let ready = || counters(scene).get("chancery_key_pool_ready").copied();
    patience::until("a full pool", PATIENCE, || Ok(ready().filter(|ready| *ready >= keys)))?;
    Ok(())
}
