//! The disk breaks below the journal or the database: what is not certain to be on it is not relied
//! on.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use chancery_tests::openssl::Workbench;
use chancery_tests::sabotage::DiskOrder;
use chancery_tests::{Answer, Client, ISSUER, Installation, Plan};
use serde_json::json;

/// A busy machine does what is waited for within this time.
const PATIENCE: Duration = Duration::from_mins(1);

const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EROFS: i32 = 30;

struct Scene {
    installation: Installation,
    client: Client,
    csr: String,
}

impl Scene {
    fn start() -> anyhow::Result<Self> {
        let signer_edits = vec![("segment_mib = 16", "segment_mib = 1")];
        let plan = Plan { sabotaged: true, signer_edits, ..Plan::default() };
        let csr = Workbench::new()?.fresh_request("/CN=a.example.test", "DNS:a.example.test")?;
        let installation = Installation::start_as(plan);
        let client = installation.administrator();
        Ok(Self { installation, client, csr })
    }

    fn ask(&self) -> anyhow::Result<Answer> {
        // Long, so that segments fill.
        let body = json!({"caName": ISSUER, "csr": self.csr, "extraInfo": ".".repeat(3_000)});
        self.client.post("/api/certs/requestp10", &body)
    }

    fn disk(&self, call: &'static str, how: &'static str, number: i32) -> anyhow::Result<()> {
        self.disk_below("signer/journal", call, how, number)
    }

    fn disk_below(
        &self,
        folder: &str,
        call: &'static str,
        how: &'static str,
        number: i32,
    ) -> anyhow::Result<()> {
        let below = self.installation.home().path().join(folder);
        self.installation.home().sabotage().disk(&[DiskOrder { call, how, number, below }])
    }

    fn heal(&self) -> anyhow::Result<()> {
        self.installation.home().sabotage().disk(&[])
    }

    fn is_told_as(&self, code: &str) -> anyhow::Result<()> {
        let refused = self.ask()?.expect_status(503)?;
        anyhow::ensure!(refused.code()? == code, "{}", refused.text());
        self.installation.wait_for_health("the reason", |answer| {
            answer.status == 503 && answer.text().contains(code)
        });
        Ok(())
    }
}

#[test]
fn a_journal_that_is_read_only_or_fails_to_be_written_signs_again_by_itself() {
    let scene = Scene::start().unwrap();
    for errno in [EROFS, EIO] {
        scene.disk("write", "fail", errno).unwrap();
        scene.is_told_as("journal_unavailable").unwrap();

        scene.heal().unwrap();
        scene.installation.wait_until_ready();
        scene.ask().unwrap().expect_status(200).unwrap();
    }
    let records = scene.installation.check_invariants().unwrap().len();
    assert_eq!(records, 5, "root, issuing CA, HTTPS and two: what was refused was not signed");
}

#[test]
fn a_database_that_takes_no_writes_is_not_ready_until_it_does() {
    let scene = Scene::start().unwrap();
    for errno in [ENOSPC, EIO] {
        scene.disk_below("data", "write", "fail", errno).unwrap();
        let refused = scene.ask().unwrap().expect_status(503).unwrap();
        let code = refused.code().unwrap();
        assert!(["database_unavailable", "not_recorded"].contains(&code.as_str()), "{code}");
        scene.installation.wait_for_health("the reason", |answer| {
            answer.status == 503 && answer.text().contains("database_unavailable")
        });

        scene.heal().unwrap();
        scene.installation.wait_until_ready();
        scene.ask().unwrap().expect_status(200).unwrap();
    }
    scene.installation.check_invariants().unwrap();
}

#[test]
fn a_journal_folder_that_takes_no_new_segment_signs_again_by_itself() {
    let scene = Scene::start().unwrap();
    let folder = scene.installation.home().path().join("signer/journal");
    let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o500);
    // A segment of 1 MiB holds fewer.
    let refused = (0..500).map(|_| scene.ask().unwrap()).find(|answer| answer.status != 200);
    assert_eq!(refused.unwrap().code().unwrap(), "journal_unavailable");
    scene.is_told_as("journal_unavailable").unwrap();

    mode(0o700);

    scene.installation.wait_until_ready();
    scene.ask().unwrap().expect_status(200).unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "the next segment is begun");
    scene.installation.check_invariants().unwrap();
}

/// The kernel drops a page that failed to sync and reports that once: a second try would succeed
/// without having written anything.
#[test]
fn a_journal_that_failed_to_sync_ends_the_signer_and_a_new_start_goes_on() {
    let mut scene = Scene::start().unwrap();
    for _ in 0..2 {
        scene.ask().unwrap().expect_status(200).unwrap();
        scene.disk("sync", "once", EIO).unwrap();

        let refused = scene.ask().unwrap().expect_status(503).unwrap();
        let signer = scene.installation.signer_mut();
        let ended = signer.wait(PATIENCE).unwrap();

        let code = refused.code().unwrap();
        assert!(["journal_unavailable", "outcome_unknown"].contains(&code.as_str()), "{code}");
        assert_eq!(ended.code(), Some(1), "an end that systemd takes for a failure");
        let said = signer.output().text();
        assert!(said.contains("Check the disk, then start it again"), "{said}");
        scene.heal().unwrap();
        scene.installation.start_signer();
        scene.installation.wait_until_ready();
        scene.ask().unwrap().expect_status(200).unwrap();
    }
    scene.installation.check_invariants().unwrap();
}
