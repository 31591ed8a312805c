//! The token's folder, module or device goes away and comes back while the service runs.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chancery_tests::openssl::Workbench;
use chancery_tests::patience;
use chancery_tests::{Client, ISSUER, Installation, Plan};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use softhsm_test_harness::SoftHsm;

const PATIENCE: Duration = Duration::from_mins(1);
/// What is away is said within this time.
const TOLD_WITHIN: Duration = Duration::from_secs(1);
/// A token that is back signs within this time.
const SIGNS_WITHIN: Duration = Duration::from_secs(5);

/// A service whose token a test takes away.
struct Scene {
    installation: Installation,
    client: Client,
    csr: String,
}

impl Scene {
    fn start(sabotaged: bool) -> anyhow::Result<Self> {
        Self::of(Installation::start_as(Plan { sabotaged, ..Plan::default() }))
    }

    fn of(installation: Installation) -> anyhow::Result<Self> {
        let csr = Workbench::new()?.fresh_request("/CN=away.example.test", "DNS:a.example.test")?;
        let client = installation.administrator();
        let scene = Self { installation, client, csr };
        scene.check_signs()?;
        Ok(scene)
    }

    fn check_signs(&self) -> anyhow::Result<()> {
        let answer = self.ask()?;
        anyhow::ensure!(answer == "200", "it does not sign: {answer}");
        Ok(())
    }

    /// Asks for a certificate: 200 or a code.
    fn ask(&self) -> anyhow::Result<String> {
        let body = json!({"caName": ISSUER, "csr": self.csr});
        let answer = self.client.post("/api/certs/requestp10", &body)?;
        if answer.status == 200 {
            return Ok("200".to_owned());
        }
        anyhow::ensure!(answer.status == 503, "{}", answer.text());
        anyhow::ensure!(answer.header("retry-after").is_some(), "no Retry-After");
        answer.code()
    }

    /// The token has just gone: each request is told so at once, and all else goes on.
    fn check_away(&self) -> anyhow::Result<()> {
        for nth in 0..3 {
            let began = Instant::now();
            let answer = self.ask()?;
            let took = began.elapsed();
            anyhow::ensure!(answer == "token_unavailable", "{answer}");
            anyhow::ensure!(took < TOLD_WITHIN, "request {nth} was told after {took:?}");
        }
        let records = self.installation.administrator().records()?;
        anyhow::ensure!(!records.is_empty(), "no records while the token is away");
        self.installation.wait_for_health("the reason", |answer| {
            answer.status == 503 && answer.text().contains("token_unavailable")
        });
        Ok(())
    }

    /// The token is back since `back`: it signs again by itself, and nothing was lost.
    fn check_back(self, back: Instant) -> anyhow::Result<()> {
        patience::until("a signature", PATIENCE, || Ok((self.ask()? == "200").then_some(())))?;
        let took = back.elapsed();
        anyhow::ensure!(took < SIGNS_WITHIN, "it signed again after {took:?}");
        let mut installation = self.installation;
        installation.check_invariants()?;
        installation.stop();
        Ok(())
    }

    fn signing_worker(&self) -> anyhow::Result<Pid> {
        let status = self.installation.signer_status();
        let pid = status.pointer("/tokens/0/workerPid").and_then(serde_json::Value::as_i64);
        Pid::from_raw(i32::try_from(pid.context("no signing worker")?)?).context("no process id")
    }
}

/// A service whose module is a copy of its own, and where that is.
fn with_own_module() -> anyhow::Result<(Scene, PathBuf)> {
    let mut installation = Installation::prepare(Plan::default());
    let home = installation.home().path();
    let module = home.join("module/libsofthsm2.so");
    fs::create_dir(home.join("module"))?;
    fs::copy(SoftHsm::module()?, &module)?;
    let signer_toml = home.join("config/signer.toml");
    let text = fs::read_to_string(&signer_toml)?;
    let shipped = format!("module = \"{}\"", SoftHsm::module()?.display());
    anyhow::ensure!(text.contains(&shipped), "signer.toml has no {shipped}");
    // In place: it stays the signer's.
    fs::write(&signer_toml, text.replace(&shipped, &format!("module = \"{}\"", module.display())))?;
    installation.start_again();
    Ok((Scene::of(installation)?, module))
}

#[test]
fn a_token_folder_moved_away_and_back_signs_within_five_seconds() -> anyhow::Result<()> {
    let scene = Scene::start(false)?;
    let token = scene.installation.home().path().join("signer/token");
    let aside = token.with_file_name("aside");

    fs::rename(&token, &aside)?;
    scene.check_away()?;
    fs::rename(&aside, &token)?;

    scene.check_back(Instant::now())
}

#[test]
fn a_device_removed_and_put_back_signs_within_five_seconds() -> anyhow::Result<()> {
    let scene = Scene::start(true)?;

    scene.installation.home().sabotage().token().remove_device()?;
    scene.check_away()?;
    scene.installation.home().sabotage().token().heal()?;

    scene.check_back(Instant::now())
}

#[test]
fn a_replaced_module_disturbs_nothing_and_serves_from_the_next_worker_on() -> anyhow::Result<()> {
    let (scene, module) = with_own_module()?;
    let before = scene.signing_worker()?;

    // As an upgrade of its package does: another file of the same name.
    let new = module.with_extension("new");
    fs::copy(&module, &new)?;
    fs::rename(&new, &module)?;
    scene.check_signs()?;
    anyhow::ensure!(scene.signing_worker()? == before, "the worker was lost for no reason");
    kill_process(before, Signal::KILL)?;

    scene.check_back(Instant::now())
}

#[test]
fn a_module_removed_and_put_back_signs_within_five_seconds() -> anyhow::Result<()> {
    let (scene, module) = with_own_module()?;
    let aside = module.with_extension("aside");

    // What is loaded stays loaded: only the next worker misses it.
    fs::rename(&module, &aside)?;
    scene.check_signs()?;
    kill_process(scene.signing_worker()?, Signal::KILL)?;
    scene.check_away()?;
    fs::rename(&aside, &module)?;

    scene.check_back(Instant::now())
}
