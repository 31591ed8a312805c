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

/// In the order of the steps; `None` of the signer's places is reached by a rehearsal.
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

    fn ask(self, client: &Client, id: &str) -> anyhow::Result<Answer> {
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
    let mut ids = BTreeMap::new();
    for (change, place) in CHANGES {
        let name = format!("{} {place}", change.word());
        let body = json!({
            "name": name, "keyStoreName": "Local Token", "keyAlgorithm": "ECDSA P-256",
            "subjectDn": format!("CN={name}, O=Example"), "lifetimeInDays": 3650, "rootCa": true,
        });
        let client = scene.installation.administrator();
        let made = client.post("/api/admin/localca", &body)?.expect_status(200)?.json()?;
        let id = made["id"].as_str().context("no id")?.to_owned();
        if *change == Change::Restore {
            Change::Delete.ask(&client, &id)?.expect_status(200)?;
        }
        ids.insert(name, id);
    }
    let mut answers = Vec::new();
    for (change, place) in CHANGES {
        let id = ids[&format!("{} {place}", change.word())].clone();
        let (change, place) = (*change, Place { name: place });
        answers.push(scene.kill_while(&place, move |client| change.ask(client, &id))?);
    }
    settle(scene)?;
    let client = scene.installation.administrator();
    let (live, deleted) = (list(&client, "localca")?, list(&client, "localca/deleted")?);
    let rows = CHANGES.iter().zip(answers).map(|((change, place), answer)| {
        let id = &ids[&format!("{} {place}", change.word())];
        let is_in = |list: &[Value]| list.iter().any(|ca| ca["id"] == **id);
        let state = match (is_in(&live), is_in(&deleted)) {
            (true, false) => "live",
            (false, true) => "deleted",
            (false, false) => "gone",
            (true, true) => "in both lists",
        };
        format!("| {}, {place} | {answer} | {state} |", change.word())
    });
    Ok(rows.collect())
}

/// Waits until nothing is in transition any more and keys and CAs agree.
fn settle(scene: &Scene) -> anyhow::Result<()> {
    let client = scene.installation.administrator();
    patience::until("an end of all transitions", PATIENCE * 5, || {
        let in_transition = |ca: &Value| {
            ["deleting", "restoring", "removing"].iter().any(|word| ca["status"] == *word)
        };
        let (live, deleted) = (list(&client, "localca")?, list(&client, "localca/deleted")?);
        if live.iter().chain(&deleted).any(in_transition) {
            return Ok(None);
        }
        let status = client.get("/api/admin/status")?.expect_status(200)?.json()?;
        let agree = json!({"withoutLocalCa": [], "withoutKey": [], "disagreeing": []});
        Ok((status["keys"] == agree).then_some(()))
    })
}

fn list(client: &Client, path: &str) -> anyhow::Result<Vec<Value>> {
    let list = client.get(&format!("/api/admin/{path}"))?.expect_status(200)?.json()?;
    list.as_array().cloned().context("no list")
}
