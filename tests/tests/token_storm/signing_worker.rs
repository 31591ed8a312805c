//! The signing worker is lost while certificates are asked for.

use std::time::Duration;

use anyhow::Context as _;
use chancery_tests::openssl::Workbench;
use chancery_tests::patience;
use chancery_tests::{Client, ISSUER, Installation, Plan};
use rustix::process::Pid;
use serde_json::json;
use softhsm_test_harness::{Action, Order};

use crate::load::Load;
use crate::{kill, rounds};

const PATIENCE: Duration = Duration::from_mins(1);
/// A request that hangs in one worker and is done by the next, on a machine that does much else.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);

#[test]
fn a_signing_worker_hung_and_killed_under_load_costs_no_request() -> anyhow::Result<()> {
    let signer_edits = vec![("#deadline_seconds = 10", "deadline_seconds = 2")];
    let plan = Plan { signer_edits, sabotaged: true, ..Plan::default() };
    let mut installation = Installation::start_as(plan);
    let csr = Workbench::new()?.fresh_request("/CN=storm.example.test", "DNS:a.example.test")?;
    let load = Load::of((0..3).map(|_| client(installation.administrator(), csr.clone())));

    for round in 0..rounds() {
        let worker = serving(&installation, None)?;
        if round % 2 == 0 {
            let pid = u32::try_from(worker.as_raw_nonzero().get())?;
            // Now and then it hangs only after it has served a while.
            let order = Order {
                pid: Some(pid),
                after: round % 5 * 3,
                ..Order::always("C_Sign", Action::Hangs)
            };
            installation.home().sabotage().token().order(&[order])?;
        } else {
            anyhow::ensure!(kill(worker), "the worker had ended by itself");
        }
        serving(&installation, Some(worker))?;
    }
    let seen = load.end()?;

    let answers: Vec<_> = seen.answers.keys().map(String::as_str).collect();
    anyhow::ensure!(answers == ["200"], "{seen:?}");
    anyhow::ensure!(seen.slowest < ANSWERED_WITHIN, "{seen:?}");
    let records = installation.check_invariants()?;
    let asked = records.iter().filter(|record| record["issuerName"] == ISSUER).count();
    anyhow::ensure!(asked >= usize::try_from(seen.answers["200"])?, "{asked} records, {seen:?}");
    installation.stop();
    Ok(())
}

fn client(client: Client, csr: String) -> impl FnMut() -> anyhow::Result<String> {
    move || {
        let body = json!({"caName": ISSUER, "csr": csr});
        let answer = client.post("/api/certs/requestp10", &body)?;
        if answer.status == 200 { Ok("200".to_owned()) } else { answer.code() }
    }
}

/// The signing worker, once another than `before` serves.
fn serving(installation: &Installation, before: Option<Pid>) -> anyhow::Result<Pid> {
    patience::until("a signing worker", PATIENCE, || {
        let status = installation.signer_status();
        let token = status.pointer("/tokens/0").context("no token")?;
        let pid = token["workerPid"].as_i64().and_then(|pid| i32::try_from(pid).ok());
        let pid = pid.and_then(Pid::from_raw).filter(|pid| Some(*pid) != before);
        Ok(pid.filter(|_| token["state"] == "ok"))
    })
}
