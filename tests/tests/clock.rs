//! The clock is set wrong and right again: nothing is signed meanwhile, and nothing is lost.

use chancery_tests::openssl::{Workbench, run};
use chancery_tests::patience;
use chancery_tests::{Answer, ISSUER, Installation, Plan};
use serde_json::json;
use time::Duration;

/// A busy machine does what is waited for within this time.
const PATIENCE: std::time::Duration = std::time::Duration::from_mins(1);

struct Scene {
    installation: Installation,
    csr: String,
}

impl Scene {
    fn start() -> anyhow::Result<Self> {
        let signer_edits = vec![("clock_jump_minutes = 5", "clock_jump_minutes = 1")];
        let plan = Plan { sabotaged: true, signer_edits, ..Plan::default() };
        let csr = Workbench::new()?.fresh_request("/CN=a.example.test", "DNS:a.example.test")?;
        Ok(Self { installation: Installation::start_as(plan), csr })
    }

    fn set(&self, clock: Duration) -> anyhow::Result<()> {
        self.installation.home().sabotage().clock(clock)
    }

    /// Starts both again, however they are then.
    fn restart(&mut self) {
        self.installation.stop();
        self.installation.start_signer();
        self.installation.start_api();
    }

    /// Asks for a certificate, logged in anew: tokens live by the same clock.
    fn ask(&self) -> anyhow::Result<Answer> {
        let body = json!({"caName": ISSUER, "csr": self.csr});
        self.installation.administrator().post("/api/certs/requestp10", &body)
    }

    fn expect_refusal(&self) -> anyhow::Result<()> {
        self.installation.wait_for_health("the refusal", |answer| {
            answer.status == 503 && answer.text().contains("clock_jumped")
        });
        let refused = self.ask()?.expect_status(503)?;
        anyhow::ensure!(refused.code()? == "clock_jumped", "{}", refused.text());
        anyhow::ensure!(refused.header("retry-after").is_some(), "no Retry-After");
        let status = self.installation.signer_status();
        let code = status.pointer("/halted/code");
        anyhow::ensure!(code.is_some_and(|code| code == "clock-jumped"), "{status}");
        Ok(())
    }

    /// The clock is right: a certificate is issued. `openssl verify` looks at all dates by the
    /// machine's own clock.
    fn expect_issuance(&self) -> anyhow::Result<()> {
        self.installation.wait_until_ready();
        self.ask()?.expect_status(200)?;
        self.installation.check_invariants().map(drop)
    }

    fn accept_clock(&self) -> anyhow::Result<()> {
        run(&mut self.installation.home().hsm(&["accept-clock"])).map(drop)
    }
}

#[test]
fn a_clock_that_is_set_wrong_stops_signing_until_it_is_right_again() {
    let scene = Scene::start().unwrap();
    for wrong in [Duration::hours(-1), Duration::days(-1), Duration::days(365)] {
        scene.set(wrong).unwrap();
        scene.expect_refusal().unwrap();

        scene.set(Duration::ZERO).unwrap();
        scene.expect_issuance().unwrap();
    }
    let records = scene.installation.check_invariants().unwrap().len();
    assert_eq!(records, 6, "root, issuing CA, HTTPS, and one for each time that it was right");
}

#[test]
fn no_number_of_starts_makes_a_clock_right_that_is_behind() {
    let mut scene = Scene::start().unwrap();
    scene.ask().unwrap().expect_status(200).unwrap();
    scene.set(Duration::days(-1)).unwrap();

    for _ in 0..2 {
        scene.restart();
        scene.expect_refusal().unwrap();
    }

    scene.set(Duration::ZERO).unwrap();
    scene.expect_issuance().unwrap();
}

#[test]
fn a_clock_that_the_operator_accepts_is_the_right_one_from_then_on() {
    let mut scene = Scene::start().unwrap();
    // The CAs are valid since five minutes before they were made.
    scene.set(Duration::minutes(-4)).unwrap();
    scene.expect_refusal().unwrap();

    scene.accept_clock().unwrap();
    scene.installation.wait_until_ready();
    scene.ask().unwrap().expect_status(200).unwrap();
    scene.restart();
    scene.expect_issuance().unwrap();

    let journal = run(&mut scene.installation.home().hsm(&["journal", "export"])).unwrap();
    assert!(journal.contains("\"clock-accepted\""), "both times are kept");
    scene.set(Duration::ZERO).unwrap();
    scene.expect_refusal().unwrap();
}

/// What was dated under a clock that ran ahead at the start holds nobody up afterwards.
#[test]
fn a_record_that_was_lost_under_a_clock_ahead_is_recovered_when_the_clock_is_right() {
    let mut scene = Scene::start().unwrap();
    scene.set(Duration::minutes(40)).unwrap();
    scene.expect_refusal().unwrap();
    scene.accept_clock().unwrap();
    scene.installation.wait_until_ready();
    let sabotage = scene.installation.home().sabotage();
    sabotage.stop_at("api: signed").unwrap();
    let client = scene.installation.administrator();
    let body = json!({"caName": ISSUER, "csr": scene.csr});
    let asked = std::thread::spawn(move || client.post("/api/certs/requestp10", &body));
    let output = scene.installation.api().output();
    output.wait_for("the signature", PATIENCE, |_| sabotage.stopped()).unwrap();
    sabotage.stop_at("").unwrap();
    scene.installation.api_mut().kill().unwrap();
    assert!(asked.join().unwrap().is_err());

    scene.set(Duration::ZERO).unwrap();
    scene.installation.start_api();
    scene.expect_refusal().unwrap();
    scene.accept_clock().unwrap();

    // Root, issuing CA, HTTPS and the one that was lost; its dates are those that were accepted.
    let administrator = scene.installation.administrator();
    patience::until("the record", PATIENCE * 3, || {
        Ok((administrator.records()?.len() == 4).then_some(()))
    })
    .unwrap();
}
