//! A Local CA that is being deleted, restored or removed when a process is killed ends in a state of
//! the table, and its key fits it.

use std::collections::BTreeMap;

use anyhow::Context as _;
use chancery_tests::{Answer, Client, patience};
use serde_json::{Value, json};

use crate::places::Place;
use crate::scene::{PATIENCE, Scene};

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Delete,
    Restore,
    Force,
}

/// Each change at each place, in the order of the steps.
pub(crate) const CHANGES: &[(Change, &str)] = &[
    (Change::Delete, "api: deletion marked"),
    (Change::Delete, "keyring: journaled"),
    (Change::Delete, "api: key disabled"),
    (Change::Delete, "api: deletion recorded"),
    (Change::Restore, "api: restore marked"),
    (Change::Restore, "keyring: journaled"),
    (Change::Restore, "api: key enabled"),
    (Change::Restore, "api: restore recorded"),
    (Change::Force, "api: removal marked"),
    (Change::Force, "keyring: journaled"),
    (Change::Force, "api: key disabled"),
    (Change::Force, "signer: key destroying"),
    (Change::Force, "key worker: opened"),
    (Change::Force, "key worker: acted"),
    (Change::Force, "signer: key destroyed"),
    (Change::Force, "api: key destroyed"),
    (Change::Force, "api: removal recorded"),
];

impl Change {
    fn word(self) -> &'static str {
        match self {
            Self::Delete => "delete",
            Self::Restore => "restore",
            Self::Force => "force",
        }
    }

    pub(crate) fn ask(self, client: &Client, id: &str) -> anyhow::Result<Answer> {
        let path = "/api/admin/localca";
        match self {
            Self::Delete => client.send("DELETE", &format!("{path}/{id}"), &[], None),
            Self::Force => client.send("DELETE", &format!("{path}/{id}/force"), &[], None),
            Self::Restore => client.post(&format!("{path}/restore/{id}"), &json!({})),
        }
    }
}

/// The row of the table that each comes to.
pub(crate) fn kill_during_each(scene: &mut Scene) -> anyhow::Result<Vec<String>> {
    let mut rows = BTreeMap::new();
    let all = || CHANGES.iter().copied().enumerate();
    // What such a kill leaves is finished within seconds, and must not meet the next one.
    for (number, (change, place)) in all().filter(|(_, (_, place))| !place.starts_with("api")) {
        let killed = kill_during(scene, change, place)?;
        settle(scene)?;
        rows.insert(number, killed.row(scene)?);
    }
    // What these leave rests for two minutes, and all of it is waited for together.
    let mut left = Vec::new();
    for (number, (change, place)) in all().filter(|(_, (_, place))| place.starts_with("api")) {
        left.push((number, kill_during(scene, change, place)?));
    }
    settle(scene)?;
    for (number, killed) in left {
        rows.insert(number, killed.row(scene)?);
    }
    Ok(rows.into_values().collect())
}

/// A CA whose change was cut off, and what its client saw.
struct Killed {
    change: Change,
    place: &'static str,
    id: String,
    answer: String,
}

fn kill_during(scene: &mut Scene, change: Change, place: &'static str) -> anyhow::Result<Killed> {
    let client = scene.installation.administrator();
    let id = make(&client, &format!("{} {place}", change.word()))?;
    if change == Change::Restore {
        Change::Delete.ask(&client, &id)?.expect_status(200)?;
    }
    let asked = id.clone();
    let answer =
        scene.kill_while(&Place { name: place }, move |client| change.ask(client, &asked))?;
    Ok(Killed { change, place, id, answer })
}

impl Killed {
    fn row(&self, scene: &Scene) -> anyhow::Result<String> {
        let Self { change, place, id, answer } = self;
        let client = scene.installation.administrator();
        let is_in = |path: &str| -> anyhow::Result<bool> {
            Ok(list(&client, path)?.iter().any(|ca| ca.get("id") == Some(&json!(id))))
        };
        let state = match (is_in("localca")?, is_in("localca/deleted")?) {
            (true, false) => "live",
            (false, true) => "deleted",
            (false, false) => "gone",
            (true, true) => "in both lists",
        };
        Ok(format!("| {}, {place} | {answer} | {state} |", change.word()))
    }
}

pub(crate) fn make(client: &Client, name: &str) -> anyhow::Result<String> {
    let body = json!({
        "name": name, "keyStoreName": "Local Token", "keyAlgorithm": "ECDSA P-256",
        "subjectDn": format!("CN={name}, O=Example"), "lifetimeInDays": 3650, "rootCa": true,
    });
    let made = client.post("/api/admin/localca", &body)?.expect_status(200)?.json()?;
    made.get("id").and_then(Value::as_str).map(str::to_owned).context("no id")
}

/// Waits until nothing is in transition any more and keys and CAs agree.
pub(crate) fn settle(scene: &Scene) -> anyhow::Result<()> {
    let client = scene.installation.administrator();
    patience::until("an end of all transitions", PATIENCE * 5, || {
        let in_transition = |ca: &Value| {
            let status = ca.get("status").and_then(Value::as_str);
            status.is_some_and(|status| ["deleting", "restoring", "removing"].contains(&status))
        };
        let (live, deleted) = (list(&client, "localca")?, list(&client, "localca/deleted")?);
        if live.iter().chain(&deleted).any(in_transition) {
            return Ok(None);
        }
        let status = client.get("/api/admin/status")?.expect_status(200)?.json()?;
        let agree = json!({"withoutLocalCa": [], "withoutKey": [], "disagreeing": []});
        Ok((status.get("keys") == Some(&agree)).then_some(()))
    })
}

pub(crate) fn list(client: &Client, path: &str) -> anyhow::Result<Vec<Value>> {
    let list = client.get(&format!("/api/admin/{path}"))?.expect_status(200)?.json()?;
    list.as_array().cloned().context("no list")
}
