//! Signer and API on a home of their own.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::client::{Answer, Client};
use crate::database::{Engine, PostgresDatabase};
use crate::home::{Peer, TestHome};
use crate::port::Port;
use crate::program::Program;

/// Long for a machine that does nothing else; tests share it.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);

/// Both end within this time of SIGTERM.
pub const END_WITHIN: Duration = Duration::from_secs(5);

/// The password of `admin`.
pub const ADMIN_PASSWORD: &str = "correct horse battery staple";

/// What an installation is to be like.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Of the API.
    pub engine: Engine,
    /// URL of the PostgreSQL server; where it is empty, the one for all tests.
    pub postgres_server: String,
    /// What stands in front of `/api`.
    pub base_paths: String,
    /// Whom the signer listens to.
    pub peer: Peer,
    /// Changes to `signer.toml`: text to find, text to put there.
    pub signer_edits: Vec<(&'static str, &'static str)>,
    /// Lines for `application.properties`.
    pub api_lines: Vec<&'static str>,
    /// Whether the test is to sabotage it.
    pub sabotaged: bool,
}

/// A running service. Its processes end and its home vanishes when it is dropped.
#[derive(Debug)]
pub struct Installation {
    pub(crate) plan: Plan,
    // Fields drop in this order: the API drains while the signer still answers.
    api: Option<Program>,
    signer: Option<Program>,
    database: Option<PostgresDatabase>,
    home: TestHome,
    port: Port,
    metrics_port: Port,
}

impl Installation {
    /// As shipped, on SQLite, ready for requests.
    ///
    /// # Panics
    ///
    /// It does not come up; its output is told.
    #[must_use]
    pub fn start() -> Self {
        Self::start_as(Plan::default())
    }

    /// As planned, ready for requests.
    ///
    /// # Panics
    ///
    /// It does not come up; its output is told.
    #[must_use]
    pub fn start_as(plan: Plan) -> Self {
        let mut installation = Self::prepare(plan);
        installation.start_signer();
        installation.start_api();
        installation.wait_until_ready();
        installation
    }

    /// A home with nothing running on it.
    ///
    /// # Panics
    ///
    /// The set-up fails.
    #[must_use]
    pub fn prepare(plan: Plan) -> Self {
        Self::try_prepare(plan).expect("preparing the home")
    }

    fn try_prepare(plan: Plan) -> anyhow::Result<Self> {
        let create = if plan.sabotaged { TestHome::create_to_sabotage } else { TestHome::create };
        let home = create(plan.peer, &plan.signer_edits)?;
        let properties = home.path().join("config/application.properties");
        let text = std::fs::read_to_string(&properties)?;
        // A key may stand once: the shipped line goes where the test has its own.
        let key = |line: &str| line.split('=').next().unwrap_or_default().trim().to_owned();
        let own: Vec<_> = plan.api_lines.iter().map(|line| key(line)).collect();
        let kept: Vec<_> = text.lines().filter(|line| !own.contains(&key(line))).collect();
        let lines = [kept.join("\n"), plan.api_lines.join("\n"), String::new()];
        std::fs::write(&properties, lines.join("\n"))?;
        let database = match plan.engine {
            Engine::Sqlite => None,
            Engine::Postgres if plan.postgres_server.is_empty() => {
                Some(PostgresDatabase::create()?)
            }
            Engine::Postgres => Some(PostgresDatabase::create_on(plan.postgres_server.clone())?),
        };
        let [port, metrics_port] = [Port::claim()?, Port::claim()?];
        Ok(Self { plan, api: None, signer: None, database, home, port, metrics_port })
    }

    /// Starts the signer and waits until it listens.
    ///
    /// # Panics
    ///
    /// It does not.
    pub fn start_signer(&mut self) {
        // What an earlier run left must not be taken for the new one's socket.
        let socket = self.home.path().join("run/signer.sock");
        let _ = std::fs::remove_file(&socket);
        let signer = Program::start("the signer", self.home.signer()).expect("starting the signer");
        signer
            .output()
            .wait_for("the signer's socket", PATIENCE, |_| socket.exists().then_some(()))
            .expect("the signer listens");
        self.signer = Some(signer);
    }

    /// Starts the API and does not wait.
    ///
    /// # Panics
    ///
    /// There is no such program.
    pub fn start_api(&mut self) {
        let command = self.api_command([&self.port, &self.metrics_port]);
        self.api = Some(Program::start("the API", command).expect("starting the API"));
    }

    /// Of an API process on this home and its database.
    pub(crate) fn api_command(&self, [port, metrics_port]: [&Port; 2]) -> Command {
        let mut command = self.home.api();
        command
            .env("CHANCERY_PORT", port.number().to_string())
            .env("CHANCERY_METRICS_PORT", metrics_port.number().to_string())
            .env("CHANCERY_BASE_PATH", &self.plan.base_paths)
            .env("CHANCERY_ADMIN_PASSWORD", ADMIN_PASSWORD);
        if let Some(database) = &self.database {
            command.env("CHANCERY_DATABASE_URL", database.url());
        }
        command
    }

    /// Waits until `/health/ready` says 200.
    ///
    /// # Panics
    ///
    /// It does not in time.
    pub fn wait_until_ready(&self) {
        self.wait_for_health("readiness", |answer| answer.status == 200);
    }

    /// Waits for an answer of `/health/ready`.
    ///
    /// # Panics
    ///
    /// None such in time.
    pub fn wait_for_health(&self, what: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        let authority = self.root_ca();
        let api = self.api().output();
        let probe = |_: &str| {
            let client = self.service();
            let answer = authority.exists().then(|| client.get("/health/ready"))?.ok()?;
            wanted(&answer).then_some(answer)
        };
        api.wait_for(what, PATIENCE, probe).expect(what)
    }

    /// Stops the API, then the signer, as the run contract has it.
    ///
    /// # Panics
    ///
    /// One of them does not end in time, or not in peace.
    pub fn stop(&mut self) {
        for program in [self.api.take(), self.signer.take()] {
            let status =
                program.map(|mut program| program.stop(END_WITHIN).expect("an end in time"));
            assert!(status.is_none_or(|status| status.success()), "{status:?}");
        }
    }

    /// Starts both again on the same home and waits until they are ready.
    ///
    /// # Panics
    ///
    /// They do not come up.
    pub fn start_again(&mut self) {
        self.start_signer();
        self.start_api();
        self.wait_until_ready();
    }

    /// The running API.
    ///
    /// # Panics
    ///
    /// It was not started.
    #[must_use]
    pub fn api(&self) -> &Program {
        self.api.as_ref().expect("the API was started")
    }

    /// The running API, to end it.
    ///
    /// # Panics
    ///
    /// It was not started.
    pub fn api_mut(&mut self) -> &mut Program {
        self.api.as_mut().expect("the API was started")
    }

    /// The running signer, to end it.
    ///
    /// # Panics
    ///
    /// It was not started.
    pub fn signer_mut(&mut self) -> &mut Program {
        self.signer.as_mut().expect("the signer was started")
    }

    /// The home.
    #[must_use]
    pub fn home(&self) -> &TestHome {
        &self.home
    }

    /// The PostgreSQL database, where there is one.
    #[must_use]
    pub fn database(&self) -> Option<&PostgresDatabase> {
        self.database.as_ref()
    }

    /// The port of HTTPS.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.number()
    }

    /// What clients trust.
    #[must_use]
    pub fn root_ca(&self) -> PathBuf {
        self.home.path().join("root-ca.pem")
    }

    /// What clients trust, as text.
    ///
    /// # Panics
    ///
    /// The service has never been ready.
    #[must_use]
    pub fn root_pem(&self) -> String {
        std::fs::read_to_string(self.root_ca()).expect("root-ca.pem is there")
    }

    /// The metrics, as Prometheus reads them.
    ///
    /// # Panics
    ///
    /// There are none.
    #[must_use]
    pub fn metrics(&self) -> String {
        let address = format!("http://127.0.0.1:{}", self.metrics_port.number());
        Client::new(address, self.root_ca()).get("/metrics").expect("metrics").text()
    }

    /// What `chancery-hsm status --json` says.
    ///
    /// # Panics
    ///
    /// The signer does not answer.
    #[must_use]
    pub fn signer_status(&self) -> Value {
        let text = crate::openssl::run(&mut self.home.hsm(&["status", "--json"])).expect("status");
        let mut reply: Value = serde_json::from_str(&text).expect("JSON");
        reply["status"].take()
    }
}
