//! `search`: how long the first page takes, by each filter alone and by usual pairs.

use std::time::Duration;

use anyhow::Context as _;
use chancery_signer::clock::{Clock as _, SystemClock};
use chancery_tests::load::{Target, percentile};
use clap::Args;
use serde_json::{Value, json};
use time::format_description::well_known::Rfc3339;

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
    /// How often each search is made.
    #[arg(long, default_value_t = 200)]
    runs: usize,
}

const PATH: &str = "/api/certs/search";

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let mut scene = Scene::start(options.database.engine(), Kind::P256, false)?;
    scene.seed(options.records)?;
    let target = scene.target()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let one = runtime.block_on(some_record(&target, options.records))?;
    println!("POST {PATH}, {} records, {:?}", options.records, options.database);
    println!("| Filter | Found | p50, ms | p99, ms |\n|---|---|---|---|");
    for body in searches(&one)? {
        let text = body.to_string();
        let is_free = text.contains(".*");
        let runs = if is_free { options.runs.div_ceil(20) } else { options.runs };
        let (took, answer) = runtime.block_on(target.post(PATH, &text, runs))?;
        let found: Vec<Value> = serde_json::from_slice(&answer)?;
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "| `{text}` | {} | {:.1} | {:.1} |",
            found.len(),
            milliseconds(percentile(&took, 50)),
            milliseconds(percentile(&took, 99)),
        );
    }
    let [(_, api), ..] = scene.processes()?;
    println!("peak memory of the API {} MiB", peak_memory(api)? / (1024 * 1024));
    scene.installation.stop();
    Ok(())
}

/// One in the middle of the past.
async fn some_record(target: &Target, records: u64) -> anyhow::Result<Value> {
    let body = json!({"commonName": format!("-{}.", records / 2)}).to_string();
    let (_, answer) = target.post(PATH, &body, 1).await?;
    let mut found: Vec<Value> = serde_json::from_slice(&answer)?;
    found.pop().context("no seeded certificate has this number")
}

/// Rare, common and absent values of each filter, then the pairs.
fn searches(one: &Value) -> anyhow::Result<Vec<Value>> {
    let field = |name: &str| one.get(name).and_then(Value::as_str).context("a field is missing");
    let name = field("commonName")?;
    let dn = field("subjectDn")?;
    let (serial, thumbprint) = (field("serialNumber")?, field("thumbprint")?);
    let now = SystemClock.now();
    let days = |days: i64| (now + time::Duration::days(days)).format(&Rfc3339);
    Ok(vec![
        json!({}),
        json!({"subjectDn": name}),
        json!({"subjectDn": "CN="}),
        json!({"subjectDn": "osaka"}),
        json!({"subjectDn": "no-such-host"}),
        json!({"subjectDn": "cn"}),
        json!({"subjectDn": format!("(?i)^{dn}$")}),
        json!({"issuerDn": "Bench CA"}),
        json!({"issuerDn": "Root"}),
        json!({"issuerDn": "nobody"}),
        json!({"commonName": name}),
        json!({"commonName": "api-"}),
        json!({"san": format!("DNS:{name}")}),
        json!({"san": "IP:10."}),
        json!({"san": "no-such-name"}),
        json!({"serialNumber": serial}),
        json!({"thumbprint": thumbprint}),
        json!({"status": "Active"}),
        json!({"status": "Expired"}),
        json!({"status": "Revoked"}),
        json!({"status": "Renewed"}),
        json!({"caName": "Bench CA"}),
        json!({"caName": "Chancery Issuer"}),
        json!({"teamName": "Team 1"}),
        json!({"ownerUsername": "member-2"}),
        json!({"extraInfo": "rack 3"}),
        json!({"extraInfo": "example"}),
        json!({"validFromFrom": days(-30)?}),
        json!({"validFromTo": days(-700)?}),
        json!({"validToFrom": days(360)?}),
        json!({"validToTo": days(-600)?}),
        json!({"expiringInDays": 30}),
        json!({"expiringInDays": 0}),
        json!({"caName": "Bench CA", "status": "Active"}),
        json!({"subjectDn": "osaka", "status": "Active"}),
        json!({"teamName": "Team 1", "expiringInDays": 30}),
        json!({"ownerUsername": "member-2", "validToTo": days(-600)?}),
        json!({"subjectDn": "^CN=.*(api|db)-.*5.*7.*7.*7.*lima"}),
        json!({"subjectDn": "(no|such).*host$"}),
    ])
}
