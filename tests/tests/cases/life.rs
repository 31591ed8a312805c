//! Key Stores, Local CAs and issuers that are deleted, restored and removed, in every order and in the
//! middle of requests.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use anyhow::Context as _;
use chancery_tests::{Answer, Client};
use serde::Deserialize;
use serde_json::{Value, json};

use super::procedures::issue;
use super::scene::{Outcome, Scene, text};
use super::table::{Case, Ending};

/// What is right was looked at.
const RIGHT: Outcome = Outcome { ending: Ending::Special, said: String::new() };

/// An item: its kind and its id.
#[derive(Clone, Debug)]
struct Item<'a> {
    admin: &'a Client,
    kind: &'static str,
    id: String,
}

impl Item<'_> {
    fn delete(&self) -> anyhow::Result<Answer> {
        self.admin.send("DELETE", &format!("/api/admin/{}/{}", self.kind, self.id), &[], None)
    }

    fn force(&self) -> anyhow::Result<Answer> {
        self.admin.send("DELETE", &format!("/api/admin/{}/{}/force", self.kind, self.id), &[], None)
    }

    fn restore(&self) -> anyhow::Result<Answer> {
        self.admin.post(&format!("/api/admin/{}/restore/{}", self.kind, self.id), &json!({}))
    }

    fn is_live(&self) -> anyhow::Result<bool> {
        let list = self.admin.get(&format!("/api/admin/{}", self.kind))?.expect_status(200)?;
        let list = list.json()?;
        Ok(list.as_array().into_iter().flatten().any(|item| item["id"] == self.id.as_str()))
    }
}

/// A root CA of this name, with a key of its own, and the issuer on it.
fn make<'a>(scene: &'a Scene, name: &str, more: Value) -> anyhow::Result<[Item<'a>; 2]> {
    let admin = &scene.administrator;
    let mut ca = json!({"rootCa": true, "keyAlgorithm": "ECDSA P-256"});
    if let (Some(ca), Value::Object(more)) = (ca.as_object_mut(), more) {
        ca.extend(more);
    }
    admin.create_ca(name, ca)?;
    Ok([
        Item { admin, kind: "localca", id: admin.id_of("/api/admin/localca", name)? },
        Item { admin, kind: "ca", id: admin.id_of("/api/admin/ca", name)? },
    ])
}

/// Each order in which three things can be taken.
const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

/// No order of deleting and restoring leaves a live item on a deleted one, and whatever is in the way is
/// named.
pub(crate) fn every_order(scene: &Scene) -> anyhow::Result<Outcome> {
    let admin = &scene.administrator;
    let store = json!({"name": "Life Store", "token": "SoftHSM2"});
    let store = admin.post("/api/admin/keystores", &store)?.expect_status(200)?.json()?;
    let store = Item { admin, kind: "keystores", id: text(&store, "/id")?.to_owned() };
    let [ca, issuer] = make(scene, "Life CA", json!({"keyStoreName": "Life Store"}))?;
    let items = [store, ca, issuer];
    for order in ORDERS.iter().flat_map(|first| ORDERS.map(|then| (*first, then))) {
        let (deleting, restoring) = order;
        take(&items, deleting, "in_use", Item::delete)?;
        take(&items, restoring, "wrong_state", Item::restore)?;
        anyhow::ensure!(items[2].is_live()?, "{order:?}");
    }
    Ok(RIGHT)
}

/// In this order, again and again, until each has worked.
fn take<'a>(
    items: &[Item<'a>; 3],
    order: [usize; 3],
    refused_as: &str,
    deed: fn(&Item<'a>) -> anyhow::Result<Answer>,
) -> anyhow::Result<()> {
    let mut left = order.to_vec();
    for _ in 0..3 {
        for index in std::mem::take(&mut left) {
            let answer = deed(items.get(index).context("three items")?)?;
            if answer.status != 200 {
                let refusal = (answer.status, answer.code()?);
                anyhow::ensure!(refusal == (409, refused_as.to_owned()), "{}", answer.text());
                let (json, named) = (answer.json()?, |json: &Value| json.as_array().map(Vec::len));
                let in_the_way = json.get("dependants").and_then(named);
                anyhow::ensure!(in_the_way == Some(1), "{}", answer.text());
                left.push(index);
            }
            let live = [items[0].is_live()?, items[1].is_live()?, items[2].is_live()?];
            // What is live stands on what is live.
            anyhow::ensure!(live[0] >= live[1] && live[1] >= live[2], "{order:?}: {live:?}");
        }
    }
    anyhow::ensure!(left.is_empty(), "{order:?}: {left:?} did not work");
    Ok(())
}

/// 20 clients ask while the issuer is deleted and restored: each gets a certificate with its record or a
/// refusal, and nothing else than the latter from what is deleted.
pub(crate) fn deleted_in_the_middle(scene: &Scene) -> anyhow::Result<Outcome> {
    const NAME: &str = "Middle CA";
    let [_, issuer] = make(scene, NAME, json!({}))?;
    let csr = scene.bench.fresh_request("/CN=ops-004.example.test", "")?;
    let (count, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
    let ask = || -> anyhow::Result<Vec<Answer>> {
        let mut answers = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            answers.push(scene.ask(NAME, &csr)?);
            count.fetch_add(1, Ordering::Relaxed);
        }
        Ok(answers)
    };
    let records = || -> anyhow::Result<usize> {
        let all = scene.administrator.records()?;
        Ok(all.iter().filter(|record| record["issuerName"] == NAME).count())
    };
    let (counted, answers) = thread::scope(|scope| {
        let clients: Vec<_> = (0..20).map(|_| scope.spawn(ask)).collect();
        let more = || {
            let before = count.load(Ordering::Relaxed);
            // Clients that have all ended early ask nothing any more; their errors are told below.
            while count.load(Ordering::Relaxed) < before + 40
                && !clients.iter().all(ScopedJoinHandle::is_finished)
            {
                thread::yield_now();
            }
        };
        more();
        let delete = issuer.delete();
        let deleted = records();
        more();
        let restoring = records();
        let restore = issuer.restore();
        more();
        is_over.store(true, Ordering::Relaxed);
        let mut answers = Vec::new();
        for client in clients {
            answers.extend(client.join().ok().context("a client panicked")??);
        }
        delete?.expect_status(200)?;
        restore?.expect_status(200)?;
        anyhow::Ok(([deleted?, restoring?], answers))
    })?;
    // What was let in before the delete is on record when that is answered.
    anyhow::ensure!(
        counted[0] > 0 && counted[0] == counted[1],
        "issued by what is deleted: {counted:?}"
    );
    for answer in answers {
        match answer.status {
            200 => drop(scene.administrator.record(text(&answer.json()?, "/certId")?)?),
            422 => anyhow::ensure!(answer.code()? == "unknown_issuer", "{}", answer.text()),
            _ => anyhow::bail!("{}: {}", answer.status, answer.text()),
        }
    }
    Ok(RIGHT)
}

/// A CA that was deleted and restored is the one that it was.
pub(crate) fn the_same_ca_again(scene: &Scene) -> anyhow::Result<Outcome> {
    const NAME: &str = "Restored CA";
    let [ca, issuer] = make(scene, NAME, json!({}))?;
    let before = (scene.administrator.chain(NAME)?, scene.installation.keys_on_token()?);
    let (old, _) = issue(scene, NAME, "old.example.test")?;

    for item in [&issuer, &ca] {
        item.delete()?.expect_status(200)?;
    }
    for item in [&ca, &issuer] {
        item.restore()?.expect_status(200)?;
    }

    let (new, _) = issue(scene, NAME, "new.example.test")?;
    let after = (scene.administrator.chain(NAME)?, scene.installation.keys_on_token()?);
    anyhow::ensure!(before == after, "another certificate or key");
    for leaf in [&old, &new] {
        scene.bench.verify(leaf, "", &after.0)?;
    }
    Ok(RIGHT)
}

/// A CA that is made again from the same details is another one, and can be told from the first.
pub(crate) fn another_ca_of_the_name(scene: &Scene) -> anyhow::Result<Outcome> {
    const NAME: &str = "Recreated CA";
    let mut seen = BTreeSet::new();
    for _ in 0..2 {
        let [ca, issuer] = make(scene, NAME, json!({}))?;
        let certificate = scene.administrator.chain(NAME)?;
        for option in [&["-serial"][..], &["-ext", "subjectKeyIdentifier"], &["-pubkey"]] {
            seen.insert(scene.bench.about(&certificate, option)?);
        }
        issuer.delete()?.expect_status(200)?;
        issuer.force()?.expect_status(200)?;
        ca.force()?.expect_status(200)?;
    }
    anyhow::ensure!(seen.len() == 6, "they share something: {seen:?}");
    Ok(RIGHT)
}

/// What is to be restored, by whom, and what they are told.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Restoring {
    kind: String,
    id: String,
    by: String,
    answer: String,
}

/// Ids of another kind, of what is live or gone, or that are none; twice in a row; by those who may not.
pub(crate) fn what_can_t_be_restored(scene: &Scene, case: &Case) -> anyhow::Result<Outcome> {
    let admin = &scene.administrator;
    let [_, live] = make(scene, "Live CA", json!({}))?;
    let [_, deleted] = make(scene, "Deleted CA", json!({}))?;
    let [_, gone] = make(scene, "Gone CA", json!({}))?;
    deleted.delete()?.expect_status(200)?;
    gone.force()?.expect_status(200)?;
    let (member, anonymous) =
        (scene.installation.member("ops-008", &["Default"]), scene.installation.anonymous());
    for row in serde_json::from_slice::<Vec<Restoring>>(&case.bytes()?)? {
        let by = match row.by.as_str() {
            "member" => &member,
            "anonymous" => &anonymous,
            _ => admin,
        };
        let id = row
            .id
            .replace("@KEYSTORE_ID@", &admin.id_of("/api/admin/keystores", "Local Token")?)
            .replace("@LIVE_ID@", &live.id)
            .replace("@DELETED_ID@", &deleted.id)
            .replace("@GONE_ID@", &gone.id);

        let answer = by.post(&format!("/api/admin/{}/restore/{id}", row.kind), &json!({}))?;

        let code = if answer.status == 200 { String::new() } else { answer.code()? };
        let told = format!("{} {code}", answer.status);
        anyhow::ensure!(told.trim() == row.answer, "{row:?}: {}", answer.text());
    }
    Ok(RIGHT)
}

/// A CA that is removed leaves no key on the token and nothing to restore, live or deleted before.
pub(crate) fn gone_for_good(scene: &Scene) -> anyhow::Result<Outcome> {
    for is_deleted_first in [false, true] {
        let before = scene.installation.keys_on_token()?;
        let [ca, issuer] = make(scene, "Forced CA", json!({}))?;
        anyhow::ensure!(scene.installation.keys_on_token()?.len() == before.len() + 1, "no key");
        issuer.force()?.expect_status(200)?;
        if is_deleted_first {
            ca.delete()?.expect_status(200)?;
        }

        ca.force()?.expect_status(200)?;

        anyhow::ensure!(scene.installation.keys_on_token()? == before, "a key is left");
        let restore = ca.restore()?;
        anyhow::ensure!(restore.status == 404, "{}", restore.text());
        let deleted = scene.administrator.get("/api/admin/localca/deleted")?.text();
        anyhow::ensure!(!deleted.contains(&ca.id), "{deleted}");
    }
    Ok(RIGHT)
}
