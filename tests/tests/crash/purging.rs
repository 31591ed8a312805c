//! All processes are killed while Local CAs are purged: what was begun is finished, and what is left is
//! purged after the next start.

use anyhow::Context as _;
use chancery_tests::patience;
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};
use time::Duration;

use crate::deleting::{Change, list, make, settle};
use crate::scene::{PATIENCE, Scene};

/// In the order of the steps; of each kill another CA's purge is left.
const PLACES: [&str; 8] = [
    "api: removal marked",
    "api: key disabled",
    "keyring: journaled",
    "signer: key destroying",
    "key worker: acted",
    "signer: key destroyed",
    "api: key destroyed",
    "api: removal recorded",
];

/// Less than a day, after which a start would find its clock far ahead.
const HALF: Duration = Duration::hours(13);

/// Longer than a process that was killed has the right to purge.
const NEXT: Duration = Duration::minutes(4);

/// Kills at each place; then nothing that was due is there, neither row nor key.
pub(crate) fn kill_at_each(scene: &mut Scene) -> anyhow::Result<()> {
    let client = scene.installation.administrator();
    let live = names(&list(&client, "localca")?);
    for place in PLACES {
        let id = make(&client, place)?;
        Change::Delete.ask(&client, &id)?.expect_status(200)?;
    }
    start_at(scene, HALF, "")?;
    scene.installation.wait_until_ready();
    // Whoever looks at the status lets the service know the time.
    scene.installation.administrator().get("/api/admin/status")?.expect_status(200)?;

    let mut clock = HALF * 2;
    start_at(scene, clock, PLACES[0])?;
    let mut next = PLACES.iter().skip(1).copied();
    for place in PLACES {
        let sabotage = scene.installation.home().sabotage();
        let stopped = patience::until(place, PATIENCE, || Ok(sabotage.stopped()))?;
        kill_process(stopped, Signal::KILL)?;
        clock += NEXT;
        start_at(scene, clock, next.next().unwrap_or_default())?;
    }

    scene.installation.wait_until_ready();
    settle(scene)?;
    let client = scene.installation.administrator();
    patience::until("the end of what was deleted", PATIENCE * 5, || {
        Ok(list(&client, "localca/deleted")?.is_empty().then_some(()))
    })?;
    anyhow::ensure!(names(&list(&client, "localca")?) == live, "the live ones are not the same");
    let status = scene.installation.signer_status();
    let keys = status.get("keys").and_then(Value::as_array).context("no keys in the status")?;
    let there = keys.iter().filter(|key| key["state"] != "destroyed").count();
    anyhow::ensure!(there == live.len(), "{there} keys of {} CAs: {status}", live.len());
    Ok(())
}

/// Kills what runs, and starts it again under this clock; who reaches the place stops there.
fn start_at(scene: &mut Scene, clock: Duration, place: &str) -> anyhow::Result<()> {
    let installation = &mut scene.installation;
    installation.api_mut().kill()?;
    installation.signer_mut().kill()?;
    let sabotage = installation.home().sabotage();
    sabotage.clock(clock)?;
    sabotage.stop_at(place)?;
    installation.start_signer();
    installation.start_api();
    Ok(())
}

fn names(cas: &[Value]) -> Vec<Value> {
    let mut names: Vec<_> = cas.iter().map(|ca| json!(ca["name"].as_str())).collect();
    names.sort_by_key(Value::to_string);
    names
}
