//! A PostgreSQL server of a test's own, to be stopped and restarted.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use rustix::process::getuid;
use tempfile::TempDir;

use crate::openssl::run;
use crate::port::Port;

/// A running or stopped server that is gone when this is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    port: Port,
}

/// How a server ends.
#[derive(Clone, Copy, Debug)]
pub enum End {
    /// It tells its clients that it goes.
    Fast,
    /// As in a crash.
    Immediate,
}

impl PostgresServer {
    /// Makes a server and starts it.
    ///
    /// # Errors
    ///
    /// PostgreSQL is not installed, or does not start.
    pub fn start() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("chancery-postgres-").tempdir()?;
        let port = Port::claim()?;
        let server = Self { folder, programs: programs()?, port };
        if getuid().is_root() {
            // The server refuses to run as root.
            run(Command::new("chown").arg("postgres:").arg(server.folder.path()))?;
        }
        let mut init = server.command("initdb");
        init.args(["--username", "postgres", "--auth", "trust", "--no-sync"]);
        run(&mut init)?;
        server.start_again()?;
        Ok(server)
    }

    /// Where it is, without a database's name.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.port.number())
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// It does not run.
    pub fn stop(&self, end: End) -> anyhow::Result<()> {
        let mode = match end {
            End::Fast => "fast",
            End::Immediate => "immediate",
        };
        run(self.command("pg_ctl").args(["stop", "--silent", "--mode", mode])).map(drop)
    }

    /// Starts it after [`Self::stop`] and waits until it answers.
    ///
    /// # Errors
    ///
    /// It does not come up.
    pub fn start_again(&self) -> anyhow::Result<()> {
        let folder = self.folder.path().display();
        let port = self.port.number();
        let options = format!("-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off");
        let mut start = self.command("pg_ctl");
        start.args(["start", "--wait", "--silent", "--log"]).arg(self.folder.path().join("log"));
        start.arg("-o").arg(options);
        // It inherits what it is given: nobody would see the end of a pipe.
        start.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let status = start.status()?;
        let log = || std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        anyhow::ensure!(status.success(), "PostgreSQL does not start: {}", log());
        Ok(())
    }

    fn command(&self, program: &str) -> Command {
        let program = self.programs.join(program);
        let mut command = if getuid().is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", "postgres", "--"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.arg("--pgdata").arg(self.folder.path().join("data")).current_dir("/");
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // A test that failed may have left it stopped.
        let stopped = self.stop(End::Immediate);
        assert!(stopped.is_ok() || std::thread::panicking(), "{stopped:?}");
    }
}

/// Where the newest PostgreSQL's programs are.
fn programs() -> anyhow::Result<PathBuf> {
    let mut versions: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .context("PostgreSQL is not installed; ./test.sh system installs it")?
        .filter_map(|version| {
            let path = version.ok()?.path();
            let number: u32 = path.file_name()?.to_str()?.parse().ok()?;
            Some((number, path.join("bin")))
        })
        .collect();
    versions.sort();
    let newest = versions.pop().map(|(_, path)| path);
    newest.filter(|path| path.join("initdb").is_file()).context("there is no initdb")
}
