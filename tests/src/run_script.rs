//! `run.sh`, as someone who tries the product runs it.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::client::Client;
use crate::port::Port;
use crate::program::{Program, User};
use crate::programs;

/// A home for `run.sh`, and the environment that it is started with.
#[derive(Debug)]
pub struct Trial {
    folder: TempDir,
    port: Port,
    _metrics_port: Port,
    environment: Vec<(&'static str, String)>,
}

/// A running `run.sh`.
#[derive(Debug)]
pub struct Running {
    /// The script, which stays in front.
    pub script: Program,
    /// What it printed after `ready `.
    pub address: String,
}

impl Trial {
    /// An empty folder and free ports.
    ///
    /// # Errors
    ///
    /// The programs are not built.
    pub fn new(environment: &[(&'static str, &str)]) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("chancery-trial-").tempdir()?;
        let [port, metrics_port] = [Port::claim()?, Port::claim()?];
        let mut all = vec![
            ("CHANCERY_BIN", programs::folder()?.to_string_lossy().into_owned()),
            ("CHANCERY_HOME", folder.path().join("home").to_string_lossy().into_owned()),
            ("CHANCERY_PORT", port.number().to_string()),
            ("CHANCERY_METRICS_PORT", metrics_port.number().to_string()),
        ];
        all.extend(environment.iter().map(|(name, value)| (*name, (*value).to_owned())));
        Ok(Self { folder, port, _metrics_port: metrics_port, environment: all })
    }

    /// The home.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Starts the script and waits for its `ready` line.
    ///
    /// # Errors
    ///
    /// It ended before.
    pub fn start(&self) -> anyhow::Result<Running> {
        let mut command = Program::command(&script(), User::Own);
        command.envs(self.environment.iter().map(|(name, value)| (*name, value)));
        command.env("HOME", self.folder.path());
        let script = Program::start("run.sh", command)?;
        let ready = |text: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix("ready "));
            line.map(str::to_owned)
        };
        let address = script.output().wait_for("ready", Duration::from_mins(2), ready)?;
        Ok(Running { script, address })
    }

    /// Runs the script to its end with these arguments and these variables besides.
    ///
    /// # Errors
    ///
    /// It can't be started.
    pub fn run(&self, arguments: &[&str], more: &[(&str, &str)]) -> anyhow::Result<Output> {
        let mut command = Command::new(script());
        command.args(arguments).envs(self.environment.iter().map(|(name, value)| (*name, value)));
        command.envs(more.iter().copied());
        command.output().context("starting run.sh")
    }

    /// The service behind a `ready` address.
    #[must_use]
    pub fn client(&self, address: &str) -> Client {
        let address = address.trim_end_matches('/').to_owned();
        Client::new(address, self.home().join("root-ca.pem"))
    }

    /// Whether anyone listens on the service's port.
    #[must_use]
    pub fn is_listening(&self) -> bool {
        TcpStream::connect(("127.0.0.1", self.port.number())).is_ok()
    }

    /// The port of HTTPS.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port.number()
    }
}

fn script() -> PathBuf {
    Path::new(&programs::project()).join("run.sh")
}
