//! What breaks, and how it heals again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use chancery_tests::sabotage::DiskOrder;
use chancery_tests::{Engine, Installation};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use softhsm_test_harness::{Action, FUNCTIONS, Order};

/// Breaks things in an order that a seed gives.
pub(crate) struct Saboteur {
    engine: Engine,
    /// Xorshift: the same troubles in each run.
    state: u64,
    done: BTreeMap<&'static str, u32>,
}

/// No trouble takes longer, with the quiet after it.
pub(crate) const LONGEST: Duration = Duration::from_secs(12);

/// What can happen.
type Trouble = fn(&mut Saboteur, &mut Installation) -> anyhow::Result<()>;

const TROUBLES: &[(&str, Trouble)] = &[
    ("signing worker killed", kill_worker),
    ("signer killed", kill_signer),
    ("API killed", kill_api),
    ("token call fails", fail_a_call),
    ("token call hangs", hang_a_call),
    ("token crashes", crash_a_call),
    ("device removed", remove_device),
    ("token folder away", move_token),
    ("journal's disk full", fill_journal),
    ("database unreachable", lose_database),
    ("disk slow", slow_disk),
];

const NO_SPACE: i32 = 28;

impl Saboteur {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine, state: 0x2545_f491_4f6c_dd1d, done: BTreeMap::new() }
    }

    /// How often each trouble was made.
    pub(crate) fn done(&self) -> &BTreeMap<&'static str, u32> {
        &self.done
    }

    /// Makes one trouble, mends it, and leaves the service alone for a while.
    pub(crate) fn act(&mut self, installation: &mut Installation) -> anyhow::Result<()> {
        let (name, trouble) = *self.pick(TROUBLES)?;
        trouble(self, installation)?;
        *self.done.entry(name).or_default() += 1;
        let quiet = 500 + self.below(2_500);
        wait(quiet.into());
        Ok(())
    }

    /// Less than `bound`, by Marsaglia's xorshift.
    fn below(&mut self, bound: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        u32::try_from(self.state % u64::from(bound)).unwrap_or_default()
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> anyhow::Result<&'a T> {
        let at = self.below(u32::try_from(from.len())?);
        from.get(usize::try_from(at)?).context("nothing to pick from")
    }

    fn order(&mut self, action: Action, times: Option<u32>) -> anyhow::Result<Order> {
        let function = self.pick(FUNCTIONS)?;
        let after = self.below(20);
        Ok(Order { after, times, ..Order::always(function, action) })
    }
}

/// The load goes on meanwhile: time itself is what is waited for.
fn wait(milliseconds: u64) {
    thread::park_timeout(Duration::from_millis(milliseconds));
}

fn kill_worker(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    let status = installation.signer_status();
    let worker = status.pointer("/tokens/0/workerPid").and_then(Value::as_i64);
    // None while one is being started.
    let Some(worker) = worker else { return Ok(()) };
    let worker = Pid::from_raw(i32::try_from(worker)?).context("no process id")?;
    match kill_process(worker, Signal::KILL) {
        // An earlier trouble ended it just now.
        Err(Errno::SRCH) => Ok(()),
        killed => Ok(killed?),
    }
}

fn kill_signer(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    installation.signer_mut().kill()?;
    installation.start_signer();
    Ok(())
}

fn kill_api(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    installation.api_mut().kill()?;
    installation.start_api();
    Ok(())
}

/// One code of each class (PKCS#11 v2.40, section 3.5); a refused PIN needs a person and is not
/// among them.
const CODES: &[u64] =
    &[0x05, 0x06, 0x21, 0x30, 0x32, 0x54, 0x60, 0x82, 0x90, 0xb0, 0xb3, 0x101, 0x190];

fn fail_a_call(saboteur: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    let code = *saboteur.pick(CODES)?;
    let times = 1 + saboteur.below(20);
    let order = saboteur.order(Action::Returns(code), Some(times))?;
    for_a_while(installation, order)
}

fn hang_a_call(saboteur: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    let order = saboteur.order(Action::Hangs, Some(1))?;
    for_a_while(installation, order)
}

fn crash_a_call(saboteur: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    let order = saboteur.order(Action::Crashes, Some(1))?;
    for_a_while(installation, order)
}

fn for_a_while(installation: &Installation, order: Order) -> anyhow::Result<()> {
    let token = installation.home().sabotage().token();
    token.order(&[order])?;
    wait(2_000);
    token.heal()
}

fn remove_device(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    let token = installation.home().sabotage().token();
    token.remove_device()?;
    wait(2_000);
    token.heal()
}

fn move_token(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    let signer = installation.home().path().join("signer");
    fs::rename(signer.join("token"), signer.join("away"))?;
    wait(1_500);
    Ok(fs::rename(signer.join("away"), signer.join("token"))?)
}

fn fill_journal(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    disk_for_a_while(installation, "write", "fail", NO_SPACE, "signer/journal")
}

fn lose_database(saboteur: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    match (saboteur.engine, installation.database()) {
        (Engine::Postgres, Some(database)) => {
            database.value(
                "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity \
                 WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )?;
            Ok(())
        }
        _ => disk_for_a_while(installation, "write", "fail", NO_SPACE, "data"),
    }
}

fn slow_disk(_: &mut Saboteur, installation: &mut Installation) -> anyhow::Result<()> {
    disk_for_a_while(installation, "sync", "delay", 50, "")
}

fn disk_for_a_while(
    installation: &Installation,
    call: &'static str,
    how: &'static str,
    number: i32,
    below: impl AsRef<Path>,
) -> anyhow::Result<()> {
    let sabotage = installation.home().sabotage();
    let below = installation.home().path().join(below);
    sabotage.disk(&[DiskOrder { call, how, number, below }])?;
    wait(1_500);
    sabotage.disk(&[])
}
