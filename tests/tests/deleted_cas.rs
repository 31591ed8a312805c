//! Deleted, restored and removed Local CAs with a real token, and many administrators at once.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use chancery_tests::clock;
use chancery_tests::openssl::Workbench;
use chancery_tests::{Client, ISSUER, Installation, Plan, on_both_engines, patience};
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

fn delete(client: &Client, path: &str) -> anyhow::Result<Value> {
    client.send("DELETE", path, &[], None)?.expect_status(200)?.json()
}

fn text<'a>(json: &'a Value, field: &str) -> &'a str {
    json[field].as_str().unwrap_or_default()
}

/// The ids of the keys that the signer has and that are not destroyed.
fn keys(installation: &Installation) -> Vec<String> {
    let status = installation.signer_status();
    let keys = status.get("keys").and_then(Value::as_array).cloned().unwrap_or_default();
    let there = keys.iter().filter(|key| key["state"] != "destroyed");
    there.map(|key| text(key, "keyId").to_owned()).collect()
}

on_both_engines! {
    fn a_restored_ca_issues_under_its_old_certificate_and_a_removed_one_has_no_key(engine) {
        let mut installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let admin = installation.administrator();
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=life.example.test", "DNS:life.example.test").unwrap();
        let (root, chain) = (installation.root_pem(), admin.chain(ISSUER).unwrap());
        let ca = admin.id_of("/api/admin/localca", "Chancery Issuing CA").unwrap();
        let issuer = admin.id_of("/api/admin/ca", ISSUER).unwrap();
        let before = keys(&installation);
        let old = admin.request(&csr).unwrap();

        delete(&admin, &format!("/api/admin/ca/{issuer}")).unwrap();
        let was = delete(&admin, &format!("/api/admin/localca/{ca}")).unwrap();
        assert!(admin.request(&csr).is_err());
        installation.stop();
        installation.start_again();
        let path = format!("/api/admin/ca/restore/{issuer}?withDependencies=true");
        admin.post(&path, &json!({})).unwrap().expect_status(200).unwrap();

        let new = admin.request(&csr).unwrap();
        for pem in [&old.pem, &new.pem] {
            bench.verify(pem, &chain, &root).unwrap();
        }
        assert_eq!(keys(&installation), before);

        delete(&admin, &format!("/api/admin/ca/{issuer}/force")).unwrap();
        delete(&admin, &format!("/api/admin/localca/{ca}/force")).unwrap();
        let after = keys(&installation);
        assert_eq!(after.len(), before.len() - 1, "{before:?}, {after:?}");
        let more = json!({
            "subjectDn": was["subjectDn"], "lifetimeInDays": was["lifetimeInDays"],
            "keyAlgorithm": was["keyAlgorithm"], "parentLocalCaName": "Chancery Root CA",
        });
        let again = admin.create_ca("Chancery Issuing CA", more).unwrap();
        assert_ne!(again["caCertificate"], was["caCertificate"]);
        let new_keys: Vec<_> =
            keys(&installation).into_iter().filter(|key| !after.contains(key)).collect();
        assert!(new_keys.len() == 1 && !before.contains(&new_keys[0]), "{new_keys:?}");
        // What it issued stays readable.
        assert_eq!(text(&admin.record(&old.id).unwrap(), "id"), old.id);
    }
}

/// When a call began and ended.
type Span = (OffsetDateTime, OffsetDateTime);

/// What was answered with 200.
#[derive(Default)]
struct Seen {
    deletes: Mutex<Vec<Span>>,
    restores: Mutex<Vec<Span>>,
    issued: AtomicU32,
}

/// A worker that panicked has been told of already.
fn locked(spans: &Mutex<Vec<Span>>) -> MutexGuard<'_, Vec<Span>> {
    spans.lock().unwrap_or_else(PoisonError::into_inner)
}

fn timed<T>(work: impl FnOnce() -> T) -> (Span, T) {
    let began = clock::now();
    let done = work();
    ((began, clock::now()), done)
}

impl Seen {
    fn has_all(&self) -> bool {
        let moved = [&self.deletes, &self.restores].iter().all(|spans| !locked(spans).is_empty());
        moved && self.issued.load(Ordering::Relaxed) > 0
    }
}

/// One of the administrators: deletes and restores the issuer and its CA, in any order.
fn administrate(client: &Client, ids: &[String; 2], turn: u32, seen: &Seen) -> anyhow::Result<()> {
    let [issuer, ca] = ids;
    let (span, answer) = match turn % 4 {
        0 => timed(|| client.send("DELETE", &format!("/api/admin/ca/{issuer}"), &[], None)),
        1 => timed(|| client.send("DELETE", &format!("/api/admin/localca/{ca}"), &[], None)),
        2 => timed(|| client.post(&format!("/api/admin/localca/restore/{ca}"), &json!({}))),
        _ => {
            let path = format!("/api/admin/ca/restore/{issuer}?withDependencies=true");
            timed(|| client.post(&path, &json!({})))
        }
    };
    let answer = answer?;
    match (answer.status, turn % 4) {
        (200, 0) => locked(&seen.deletes).push(span),
        (200, 3) => locked(&seen.restores).push(span),
        (200 | 409, _) => {}
        // A budget of the signer, said with Retry-After.
        (503, _) if answer.header("retry-after").is_some() => {}
        (status, _) => anyhow::bail!("{status}: {}", answer.text()),
    }
    Ok(())
}

fn ask(client: &Client, csr: &str, seen: &Seen) -> anyhow::Result<()> {
    let body = json!({"caName": ISSUER, "csr": csr});
    let answer = client.post("/api/certs/requestp10", &body)?;
    match answer.status {
        200 => drop(seen.issued.fetch_add(1, Ordering::Relaxed)),
        409 | 422 | 429 => {}
        503 if answer.header("retry-after").is_some() => {}
        status => anyhow::bail!("{status}: {}", answer.text()),
    }
    Ok(())
}

/// The journal has no signature between the answer of a delete and a restore that could have taken
/// effect, whenever its request was sent. `began` is when the crowd did.
fn check(seen: &Seen, began: OffsetDateTime, journal: &[Value]) -> anyhow::Result<()> {
    ensure!(seen.has_all(), "something of it did not happen");
    let (deletes, restores) = (locked(&seen.deletes), locked(&seen.restores));
    let mut signed_since = 0;
    for entry in journal {
        if entry.pointer("/event/signed").is_none() {
            continue;
        }
        let signed = OffsetDateTime::parse(text(entry, "time"), &Rfc3339)?;
        signed_since += u32::from(signed > began);
        for (asked, _) in deletes.iter().filter(|(_, answered)| *answered < signed) {
            // A delete is answered when all is over that was let in before: one that took effect
            // later may be answered earlier.
            let comes_back = |(began, ended): &Span| ended >= asked && *began <= signed;
            ensure!(restores.iter().any(comes_back), "signed for what was deleted: {entry}");
        }
    }
    let issued = seen.issued.load(Ordering::Relaxed);
    ensure!(signed_since >= issued, "{issued} issued, {signed_since} signed");
    Ok(())
}

on_both_engines! {
    /// `CHANCERY_CROWD_SECONDS` says how long; 8 where it is not set.
    fn sixteen_administrators_and_sixteen_requesters_at_once_leave_a_legal_state(engine) {
        let seconds = std::env::var("CHANCERY_CROWD_SECONDS").map_or(8, |text| text.parse().unwrap());
        let installation = Installation::start_as(Plan { engine, ..Plan::default() });
        let admin = installation.administrator();
        let bench = Workbench::new().unwrap();
        let csr = bench.fresh_request("/CN=crowd.example.test", "DNS:crowd.example.test").unwrap();
        let ca = admin.id_of("/api/admin/localca", "Chancery Issuing CA").unwrap();
        let ids = [admin.id_of("/api/admin/ca", ISSUER).unwrap(), ca];
        let (seen, turns) = (Seen::default(), AtomicU32::new(0));
        let (began, end) =
            (clock::now(), Instant::now() + Duration::from_secs(seconds));
        // A crowd that is unlucky goes on until each thing has happened.
        let latest = end + Duration::from_mins(2);

        let failed = thread::scope(|scope| {
            let mut workers = Vec::new();
            for number in 0..32_u32 {
                let (admin, csr, ids, seen, turns) = (&admin, &csr, &ids, &seen, &turns);
                workers.push(scope.spawn(move || -> anyhow::Result<()> {
                    while Instant::now() < end || !seen.has_all() && Instant::now() < latest {
                        if number % 2 == 0 {
                            let turn = turns.fetch_add(1, Ordering::Relaxed).wrapping_mul(7) + number;
                            administrate(admin, ids, turn / 2, seen)?;
                        } else {
                            ask(admin, csr, seen)?;
                        }
                    }
                    Ok(())
                }));
            }
            workers.into_iter().map(|worker| worker.join().unwrap()).filter_map(Result::err).collect()
        });
        let failed: Vec<anyhow::Error> = failed;
        assert!(failed.is_empty(), "{failed:?}");
        check(&seen, began, &installation.journal().unwrap()).unwrap();

        patience::until("the issuer back", Duration::from_mins(4), || {
            let path = format!("/api/admin/ca/restore/{}?withDependencies=true", ids[0]);
            let answer = admin.post(&path, &json!({}))?;
            let live = admin.get("/api/admin/ca")?.json()?;
            ensure!([200, 409, 503].contains(&answer.status), "{}", answer.text());
            Ok((live.as_array().context("no list")?.len() == 1).then_some(()))
        }).unwrap();
        patience::until("keys that fit", Duration::from_mins(1), || {
            let status = admin.get("/api/admin/status")?.expect_status(200)?.json()?;
            let agree = json!({"withoutLocalCa": [], "withoutKey": [], "disagreeing": []});
            Ok((status["keys"] == agree).then_some(()))
        }).unwrap();
        installation.check_invariants().unwrap();
    }
}
