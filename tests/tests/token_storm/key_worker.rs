//! The key worker is killed while keys are made and destroyed.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chancery_shared::bytes::Bytes;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::{
    CreateCaKey, KeyChange, KeyCreated, KeyRole, Reply, Request, SignCertificate,
};
use chancery_shared::wire::{Context, Outcome, RefusalCode};
use chancery_tests::clock::now;
use chancery_tests::forge::Forged;
use chancery_tests::forge::subject::{SubjectKey, common_name};
use chancery_tests::openssl::run;
use chancery_tests::patience;
use chancery_tests::peer::Peer;
use chancery_tests::signer_ca::Ca;
use chancery_tests::signer_home::SignerHome;
use rustix::process::Pid;
use serde_json::Value;

use crate::load::Load;
use crate::{kill, rounds};

const PATIENCE: Duration = Duration::from_mins(1);
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);
const HOW: SignatureAlgorithm = SignatureAlgorithm::EcdsaSha256;

#[test]
fn a_key_worker_killed_at_any_moment_costs_no_live_key_and_leaves_none_pending()
-> anyhow::Result<()> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ca = home.create_ca(&mut peer, "Storm Root")?;
    let load = Load::of([client(&home, ca.clone())?, client(&home, ca)?]);
    let killer = Killer { signer: home.pid()? };
    let mut live = Vec::new();
    let began = Instant::now();
    live.push(make(&mut peer)?.context("a key, with no one to kill")?);
    let usual = began.elapsed();

    for round in 0..rounds() {
        let moment = usual.mul_f64(f64::from(round) / f64::from(rounds()));
        // Each third time the next one, which cleans up, is killed too.
        let kills = if round % 3 == 2 { 2 } else { 1 };
        live.extend(killer.during(moment, kills, || make(&mut peer))?);
        let unwanted = make(&mut peer)?.context("a key, with no one to kill")?;
        killer.during(moment, kills, || destroy(&mut peer, &unwanted))?;
    }
    let seen = load.end()?;

    let answers: Vec<_> = seen.answers.keys().map(String::as_str).collect();
    anyhow::ensure!(answers == ["signed"], "{seen:?}");
    anyhow::ensure!(seen.slowest < ANSWERED_WITHIN, "{seen:?}");
    patience::until("the end of what was begun", PATIENCE, || {
        Ok(begun_and_not_ended(&home)?.is_empty().then_some(()))
    })?;
    // The start looks through the token: it holds what the keyring knows, and nothing else.
    let head = home.status()?.journal_head;
    let mut log = home.log();
    home.stop()?;
    home.start()?;
    let (mut peer, _) = Peer::connect_knowing(&home.socket(), vec![head])?;
    patience::until("the new epoch after the sweep", PATIENCE, || {
        Ok(home.status()?.tokens.iter().all(|token| token.epochs > 1).then_some(()))
    })?;
    log.push_str(&home.log());
    for unwanted in ["does not know", "lacks a key"] {
        anyhow::ensure!(!log.contains(unwanted), "{unwanted}: {log}");
    }
    for key in live {
        home.certify_itself(&mut peer, &mut Ca::of(key, "Storm CA", HOW)?, &[])?;
    }
    home.stop()
}

/// Asks for certificates of this CA, on a connection of its own.
fn client(
    home: &SignerHome,
    ca: Ca,
) -> anyhow::Result<impl FnMut() -> anyhow::Result<String> + Send + use<>> {
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let subject = SubjectKey::generate()?;
    let csr = subject.csr(&common_name("www.example.test"))?;
    Ok(move || {
        let serial_nonce = peer.fresh_nonce();
        let tbs = Forged::ordinary(&ca.issuer(), &subject, now()).der(&serial_nonce.0);
        let request = SignCertificate {
            key_id: ca.key_id,
            tbs: Bytes(tbs),
            csr: Bytes(csr.clone()),
            serial_nonce,
            context: Context::default(),
        };
        Ok(match peer.ask(&Request::SignCertificate(request))?.outcome {
            Outcome::Done(_) => "signed".to_owned(),
            Outcome::Refused(refusal) => format!("{:?}", refusal.code),
        })
    })
}

/// A new key; `None` where the token was said to be unavailable.
fn make(peer: &mut Peer) -> anyhow::Result<Option<KeyCreated>> {
    let request = CreateCaKey {
        token: "SoftHSM2".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: HOW,
        role: KeyRole::Ca,
        policy: None,
        context: Context::default(),
    };
    match peer.ask(&Request::CreateCaKey(request))?.outcome {
        Outcome::Done(Reply::KeyCreated(key)) => Ok(Some(key)),
        Outcome::Refused(refusal) if refusal.code == RefusalCode::TokenUnavailable => Ok(None),
        other => anyhow::bail!("{other:?}"),
    }
}

/// Destroys the key, or has the signer go on with it by itself.
fn destroy(peer: &mut Peer, key: &KeyCreated) -> anyhow::Result<()> {
    let change =
        KeyChange { key_id: key.key_id, reason: "a test".into(), context: Context::default() };
    peer.ask(&Request::DisableKey(change.clone()))?;
    match peer.ask(&Request::DestroyKey(change))?.outcome {
        Outcome::Done(_) => Ok(()),
        Outcome::Refused(refusal) if refusal.code == RefusalCode::TokenUnavailable => Ok(()),
        other @ Outcome::Refused(_) => anyhow::bail!("{other:?}"),
    }
}

/// The keys of which the journal has the first entry of a making or destruction and not the last.
fn begun_and_not_ended(home: &SignerHome) -> anyhow::Result<BTreeSet<String>> {
    let text = run(&mut home.hsm(&["journal", "export"]))?;
    let mut open = BTreeSet::new();
    for line in text.lines() {
        let entry: Value = serde_json::from_str(line)?;
        let Some((name, event)) =
            entry.get("event").and_then(Value::as_object).and_then(|it| it.iter().next())
        else {
            continue;
        };
        let key_id = event.get("keyId").and_then(Value::as_str).unwrap_or_default().to_owned();
        match name.as_str() {
            "key-pending" | "key-destroying" => anyhow::ensure!(open.insert(key_id), "{entry}"),
            "key-created" | "key-creation-failed" | "key-destroyed" => {
                anyhow::ensure!(open.remove(&key_id), "{entry}");
            }
            _ => {}
        }
    }
    Ok(open)
}

/// Kills key workers of one signer.
struct Killer {
    signer: Pid,
}

impl Killer {
    /// Runs `ask`, and meanwhile kills so many key workers, each this long after it began.
    fn during<T>(
        &self,
        moment: Duration,
        kills: u32,
        ask: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let is_answered = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut killed = 0;
                while killed < kills && !is_answered.load(Ordering::Relaxed) {
                    let Some(worker) = self.key_worker() else { continue };
                    thread::park_timeout(moment);
                    kill(worker);
                    while self.key_worker() == Some(worker) {}
                    killed += 1;
                }
            });
            let answer = ask();
            is_answered.store(true, Ordering::Relaxed);
            answer
        })
    }

    fn key_worker(&self) -> Option<Pid> {
        let processes = fs::read_dir("/proc").ok()?.filter_map(Result::ok);
        let mut pids = processes.filter_map(|process| process.file_name().to_str()?.parse().ok());
        pids.find(|pid| self.is_key_worker(*pid)).and_then(Pid::from_raw)
    }

    fn is_key_worker(&self, pid: i32) -> bool {
        let read = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}"));
        let Ok(stat) = read("stat") else { return false };
        // After the name in brackets: the state, then the parent.
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        let signer = self.signer.as_raw_nonzero().to_string();
        parent == Some(signer.as_str())
            && read("cmdline").is_ok_and(|line| line.split('\0').nth(1) == Some("key-worker"))
    }
}
