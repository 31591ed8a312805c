//! A service of its own with a CA of the wanted kind, and requests for it.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use chancery_tests::database::PostgresDatabase;
use chancery_tests::load::Target;
use chancery_tests::openssl::{KEY_KINDS, Workbench};
use chancery_tests::{Client, Engine, Installation, Plan};
use serde_json::{Value, json};

use crate::key::Kind;
use crate::process;
use crate::seed::seed;

/// The CA that is measured, and the issuer on it.
pub(crate) const CA: &str = "Bench CA";

/// Long for a machine that does nothing else; tests share it.
const PATIENCE: Duration = Duration::from_mins(2);

/// So many different CSRs; clients share them.
const CSRS: usize = 16;

pub(crate) struct Scene {
    pub(crate) installation: Installation,
    pub(crate) administrator: Client,
    /// Of the CA, hexadecimal.
    pub(crate) key_id: String,
    /// Bodies of `POST /certs/requestp10`.
    pub(crate) bodies: Vec<String>,
    has_patterns: bool,
}

impl Scene {
    /// `sabotaged`: its disk can be made slow.
    pub(crate) fn start(engine: Engine, key: Kind, sabotaged: bool) -> anyhow::Result<Self> {
        // One line for each pass of reconciliation.
        let api_lines = vec!["log.level=info,chancery_api::reconcile=debug"];
        let plan = Plan { engine, api_lines, sabotaged, ..Plan::default() };
        Self::of(Installation::start_as(plan), key)
    }

    /// A running service gets such a CA.
    pub(crate) fn of(installation: Installation, key: Kind) -> anyhow::Result<Self> {
        let administrator = installation.administrator();
        let before = key_ids(&installation)?;
        let more = json!({"keyAlgorithm": key.name(), "rootCa": true});
        administrator.create_ca(CA, more)?;
        let key_id = key_ids(&installation)?.into_iter().find(|id| !before.contains(id));
        let bodies = bodies(key)?;
        let key_id = key_id.context("the CA has no key of its own")?;
        Ok(Self { installation, administrator, key_id, bodies, has_patterns: false })
    }

    /// Waits for reconciliation's first pass since the start: what came of it.
    pub(crate) fn reconciled(&self) -> anyhow::Result<Value> {
        let output = self.installation.api().output();
        Ok(output.wait_for("reconciliation", PATIENCE, |text| {
            let mut lines = text.lines().filter_map(|line| serde_json::from_str(line).ok());
            lines.find(|line: &Value| line["message"] == "reconciled")
        })?)
    }

    /// Stops it, gives it a past of so many certificates, and starts it again.
    pub(crate) fn seed(&mut self, records: u64) -> anyhow::Result<()> {
        if !self.has_patterns {
            self.request_patterns()?;
            self.has_patterns = true;
        }
        self.installation.stop();
        let url = self.installation.database().map(PostgresDatabase::url);
        seed(&self.installation.home().path(), url.as_deref(), records)?;
        self.installation.start_again();
        self.administrator = self.installation.administrator();
        Ok(())
    }

    /// Certificates of several owners in several teams.
    fn request_patterns(&self) -> anyhow::Result<()> {
        for (number, bodies) in self.bodies.chunks(4).enumerate() {
            let team = format!("Team {number}");
            let new = json!({"name": team, "internalGroup": "USER"});
            self.administrator.post("/api/admin/teams", &new)?.expect_status(200)?;
            let member = self.installation.member(&format!("member-{number}"), &[&team]);
            for body in bodies {
                let mut body: Value = serde_json::from_str(body)?;
                if let Some(fields) = body.as_object_mut() {
                    fields.insert("extraInfo".to_owned(), json!(format!("rack {number}")));
                }
                member.request_with(&body)?;
            }
        }
        Ok(())
    }

    /// Where the clients ask.
    pub(crate) fn target(&self) -> anyhow::Result<Target> {
        let token = self.administrator.token().unwrap_or_default();
        let root = self.installation.root_pem();
        Target::new(self.installation.port(), &root, token, &self.bodies)
    }

    /// The processes whose work a certificate is: API, signer, signing worker.
    pub(crate) fn processes(&mut self) -> anyhow::Result<[(&'static str, i32); 3]> {
        let status = self.installation.signer_status();
        let worker = status.pointer("/tokens/0/workerPid").and_then(Value::as_i64);
        let worker = i32::try_from(worker.context("no signing worker")?)?;
        let api = self.installation.api().pid()?.as_raw_nonzero().get();
        let signer = self.installation.signer_mut().pid()?.as_raw_nonzero().get();
        Ok([("api", api), ("signer", signer), ("worker", worker)])
    }

    /// Syncs of the journal and commits of the database so far.
    pub(crate) fn syncs(&self) -> anyhow::Result<[u64; 2]> {
        let status = self.installation.signer_status();
        let journal = status.pointer("/journal/syncs").and_then(Value::as_u64);
        let metrics = self.installation.metrics();
        let commits =
            metrics.lines().find_map(|line| line.strip_prefix("chancery_store_commits_total "));
        let commits = commits.context("no count of commits")?.trim().parse()?;
        Ok([journal.context("no count of syncs")?, commits])
    }
}

fn key_ids(installation: &Installation) -> anyhow::Result<Vec<String>> {
    let status = installation.signer_status();
    let keys = status.pointer("/keys").and_then(Value::as_array).context("no keys")?;
    let ids = keys.iter().filter_map(|key| key.get("keyId")?.as_str().map(str::to_owned));
    Ok(ids.collect())
}

fn bodies(key: Kind) -> anyhow::Result<Vec<String>> {
    let bench = Workbench::new()?;
    let kind = KEY_KINDS.iter().find(|(name, _)| *name == key.name()).context("no such kind")?;
    let bodies = (0..CSRS).map(|number| {
        let name = format!("host-{number}.bench.example.test");
        let private = bench.key(kind.1)?;
        let csr =
            bench.request(&private, &format!("/O=Bench/CN={name}"), &format!("DNS:{name}"))?;
        Ok(json!({"caName": CA, "csr": csr}).to_string())
    });
    let bodies = bodies.collect::<anyhow::Result<Vec<_>>>()?;
    ensure!(!bodies.is_empty(), "no CSR");
    Ok(bodies)
}

/// CPU time of all processes of PostgreSQL on this machine.
pub(crate) fn postgres_cpu() -> anyhow::Result<Duration> {
    process::named("postgres")?.into_iter().map(process::cpu).sum()
}
