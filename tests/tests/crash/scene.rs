//! An installation whose processes are killed at places.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use chancery_tests::openssl::Workbench;
use chancery_tests::patience;
use chancery_tests::{Answer, Client, Engine, ISSUER, Installation, Plan};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::places::Place;

/// A busy machine reaches a place within this time.
/// A purge that has just run comes again after a minute.
pub(crate) const PATIENCE: Duration = Duration::from_mins(3);

pub(crate) struct Scene {
    pub(crate) installation: Installation,
    csr: String,
    number: Arc<AtomicU32>,
}

impl Scene {
    pub(crate) fn start(engine: Engine) -> anyhow::Result<Self> {
        Self::start_with(engine, &[])
    }

    /// With these lines in `application.properties`.
    pub(crate) fn start_with(engine: Engine, lines: &[&'static str]) -> anyhow::Result<Self> {
        let signer_edits = vec![("segment_mib = 16", "segment_mib = 1")];
        let api_lines = lines.to_vec();
        let plan = Plan { engine, signer_edits, api_lines, sabotaged: true, ..Plan::default() };
        let csr =
            Workbench::new()?.fresh_request("/CN=crash.example.test", "DNS:a.example.test")?;
        Ok(Self { installation: Installation::start_as(plan), csr, number: Arc::default() })
    }

    /// Asks for certificates until one request meets the place, kills what has reached it, starts
    /// it again. The result is what that client saw.
    pub(crate) fn kill_during_a_request(&mut self, place: &Place) -> anyhow::Result<String> {
        let csr = self.csr.clone();
        let name = place.name;
        let number = Arc::clone(&self.number);
        self.kill_while(place, move |client| {
            loop {
                let number = number.fetch_add(1, Ordering::Relaxed) + 1;
                let body = json!({"caName": ISSUER, "csr": csr, "extraInfo": details(number)});
                let answer = client.post("/api/certs/requestp10", &body)?;
                // The journal begins a segment past 1 MiB: that takes some requests.
                if answer.status != 200 || !name.starts_with("journal: segment") {
                    return Ok(answer);
                }
            }
        })
    }

    /// The number of the last request.
    pub(crate) fn last_request(&self) -> u32 {
        self.number.load(Ordering::Relaxed)
    }

    /// Asks, kills what reaches the place, starts it again; what the client saw.
    pub(crate) fn kill_while(
        &mut self,
        place: &Place,
        ask: impl FnOnce(&Client) -> anyhow::Result<Answer> + Send + 'static,
    ) -> anyhow::Result<String> {
        let client = self.installation.administrator();
        let sabotage = self.installation.home().sabotage();
        sabotage.stop_at(place.name)?;
        let asked = thread::spawn(move || ask(&client));
        let output = self.installation.api().output();
        let reached = |_: &str| {
            let stopped = sabotage.stopped();
            (stopped.is_some() || asked.is_finished()).then_some(stopped)
        };
        let Some(stopped) = output.wait_for(place.name, PATIENCE, reached)? else {
            anyhow::bail!("{} was not reached: {:?}", place.name, asked.join());
        };
        sabotage.stop_at("")?;
        self.kill(stopped)?;
        let answer = asked.join().ok().context("the client panicked")?;
        self.installation.wait_until_ready();
        Ok(words(answer))
    }

    /// SIGKILL to one process. A worker is started again by the signer, the others here.
    fn kill(&mut self, process: Pid) -> anyhow::Result<()> {
        let installation = &mut self.installation;
        if installation.api().pid()? == process {
            installation.api_mut().kill()?;
            installation.start_api();
        } else if installation.signer_mut().pid()? == process {
            kill_process(process, Signal::KILL)?;
            installation.signer_mut().wait(PATIENCE)?;
            installation.start_signer();
        } else {
            kill_process(process, Signal::KILL)?;
        }
        Ok(())
    }

    /// Asks for a Local CA of this name, kills what reaches the place, starts it again.
    pub(crate) fn kill_while_a_ca_is_made(&mut self, place: &Place) -> anyhow::Result<String> {
        let body = json!({
            "name": place.name,
            "keyStoreName": "Local Token",
            "keyAlgorithm": "ECDSA P-256",
            "subjectDn": format!("CN={}, O=Example", place.name),
            "lifetimeInDays": 3650,
            "rootCa": true,
        });
        self.kill_while(place, move |client| client.post("/api/admin/localca", &body))
    }

    /// What became of the CA: waits until it is made or gone.
    pub(crate) fn ca_after(&self, place: &Place) -> anyhow::Result<&'static str> {
        let client = self.installation.administrator();
        patience::until("the CA made or gone", PATIENCE * 4, || {
            let list = client.get("/api/admin/localca")?.expect_status(200)?.json()?;
            let list = list.as_array().context("no list")?;
            Ok(match list.iter().find(|ca| ca["name"] == place.name) {
                None => Some("none; the name is free"),
                Some(ca) if ca["caCertificate"].is_null() => None,
                Some(_) => Some("made"),
            })
        })
    }

    /// The keys that are not destroyed and have no CA certificate.
    pub(crate) fn keys_without_ca(&self) -> anyhow::Result<Vec<Value>> {
        let status = self.installation.signer_status();
        let keys = status.get("keys").and_then(Value::as_array).context("no keys in the status")?;
        let idle = |key: &&Value| key["state"] != "destroyed" && key["hasCaCertificate"] == false;
        Ok(keys.iter().filter(idle).cloned().collect())
    }
}

fn words(answer: anyhow::Result<Answer>) -> String {
    match answer {
        Err(_) => "no answer".to_owned(),
        Ok(answer) if answer.status == 200 => "200".to_owned(),
        Ok(answer) => {
            let code = answer.code().unwrap_or_else(|error| format!("{error:#}"));
            format!("{} `{code}`", answer.status)
        }
    }
}

/// What each request carries, so that its record is found again; long, to fill the journal.
fn details(number: u32) -> String {
    format!("request {number} {}", ".".repeat(3_000))
}

/// What the record of this request shows, if there is one.
pub(crate) fn record_of(records: &[Value], number: u32) -> &'static str {
    let details = details(number);
    let Some(record) = records.iter().find(|record| record["extraDetails"] == details) else {
        return "none";
    };
    let events: Vec<_> = record["history"].as_array().into_iter().flatten().collect();
    let recovered = events.iter().any(|entry| entry["event"] == "recovered");
    if recovered { "recovered" } else { "as usual" }
}
