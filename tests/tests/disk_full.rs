//! The disk is full, in each folder that something is written to: a clear no, nothing half-done,
//! and on again as soon as there is room.

use std::time::Duration;

use chancery_tests::full_disk::SmallDisk;
use chancery_tests::openssl::Workbench;
use chancery_tests::patience;
use chancery_tests::{Answer, Client, ISSUER, Installation, Plan};
use serde_json::json;
use softhsm_test_harness::Action;

/// A busy machine does what is waited for within this time.
const PATIENCE: Duration = Duration::from_mins(1);

/// A service that is ready, with a folder of its home on a small disk.
struct Scene {
    // Fields drop in this order: the processes end before the disk goes.
    installation: Installation,
    disk: SmallDisk,
    client: Client,
    csr: String,
}

impl Scene {
    fn start(folder: &str) -> anyhow::Result<Self> {
        let mut installation = Installation::prepare(Plan { sabotaged: true, ..Plan::default() });
        let disk = SmallDisk::under(&installation.home().path().join(folder))?;
        installation.start_again();
        let csr = Workbench::new()?.fresh_request("/CN=a.example.test", "DNS:a.example.test")?;
        let client = installation.administrator();
        Ok(Self { installation, disk, client, csr })
    }

    fn fill(&self) -> anyhow::Result<()> {
        self.disk.fill(self.installation.home().sabotage())
    }

    fn make_room(&self) -> anyhow::Result<()> {
        self.disk.make_room(self.installation.home().sabotage())
    }

    fn ask(&self) -> anyhow::Result<Answer> {
        self.client.post("/api/certs/requestp10", &json!({"caName": ISSUER, "csr": self.csr}))
    }

    /// Asks until the disk is full to the last byte; the result is the refusal.
    fn ask_until_refused(&self) -> anyhow::Result<Answer> {
        patience::until("a refusal", PATIENCE, || {
            let answer = self.ask()?;
            Ok((answer.status != 200).then_some(answer))
        })
    }

    fn issues_again(&self) -> anyhow::Result<()> {
        patience::until("a certificate", PATIENCE, || Ok((self.ask()?.status == 200).then_some(())))
    }

    fn create_ca(&self, name: &str) -> anyhow::Result<Answer> {
        let body = json!({
            "name": name, "keyStoreName": "Local Token", "keyAlgorithm": "ECDSA P-256",
            "subjectDn": format!("CN={name}"), "lifetimeInDays": 3650, "rootCa": true,
        });
        self.client.post("/api/admin/localca", &body)
    }
}

#[test]
fn a_full_journal_signs_nothing_also_over_a_restart_until_there_is_room() {
    let mut scene = Scene::start("signer/journal").unwrap();
    let is_told =
        |answer: &Answer| answer.status == 503 && answer.text().contains("journal_unavailable");
    scene.fill().unwrap();

    let refused = scene.ask_until_refused().unwrap();
    assert_eq!((refused.status, refused.code().unwrap().as_str()), (503, "journal_unavailable"));
    assert!(refused.header("retry-after").is_some());
    scene.installation.wait_for_health("the reason", is_told);
    scene.installation.stop();
    scene.installation.start_signer();
    scene.installation.start_api();
    scene.installation.wait_for_health("an answer", |_| true);
    assert!(is_told(&scene.ask_until_refused().unwrap()));
    scene.installation.wait_for_health("the reason", is_told);

    scene.make_room().unwrap();
    scene.installation.wait_until_ready();
    scene.issues_again().unwrap();
    scene.installation.check_invariants().unwrap();
}

#[test]
fn a_full_database_is_told_and_has_every_record_when_there_is_room() {
    let scene = Scene::start("data").unwrap();
    scene.fill().unwrap();

    let refused = scene.ask_until_refused().unwrap();
    let code = refused.code().unwrap();
    assert_eq!(refused.status, 503);
    assert!(["database_unavailable", "not_recorded"].contains(&code.as_str()), "{code}");

    scene.make_room().unwrap();
    scene.issues_again().unwrap();
    scene.installation.check_invariants().unwrap();
}

#[test]
fn a_full_token_makes_no_key_and_signs_all_the_same() {
    let mut scene = Scene::start("signer/token").unwrap();
    scene.fill().unwrap();
    let sabotage = scene.installation.home().sabotage();
    if !scene.disk.is_mounted() {
        // What a module says whose storage is full.
        let device_memory = Action::Returns(0x31);
        sabotage.token().inject("C_GenerateKeyPair", device_memory, None, None).unwrap();
    }

    let refused = scene.create_ca("Full").unwrap();
    assert_eq!((refused.status, refused.code().unwrap().as_str()), (503, "token_unavailable"));
    assert_eq!(scene.ask().unwrap().status, 200, "what is there signs");

    scene.make_room().unwrap();
    sabotage.token().heal().unwrap();
    scene.create_ca("Full").unwrap().expect_status(200).unwrap();
    scene.installation.stop();
    scene.installation.start_again();
    scene.issues_again().unwrap();
    scene.installation.check_invariants().unwrap();
}
