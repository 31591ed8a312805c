//! One running program: as which user, what it writes, and its end.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use crate::output::Output;

/// As whom a program runs.
#[derive(Clone, Copy, Debug)]
pub enum User {
    /// As the test itself.
    Own,
    /// As another one; only root can.
    Other {
        /// User id.
        uid: u32,
        /// Group id, the only group.
        gid: u32,
    },
}

/// A program that runs until it is told otherwise. Dropping it kills it and its children.
#[derive(Debug)]
pub struct Program {
    name: String,
    child: Child,
    output: Output,
}

impl Program {
    /// A command that runs `program` as `user` with an environment of its own.
    ///
    /// The kernel kills it when the thread that started it ends, so that a test that is killed
    /// leaves nothing behind.
    #[must_use]
    pub fn command(program: &Path, user: User) -> Command {
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if let User::Other { uid, gid } = user {
            command.arg(format!("--reuid={uid}")).arg(format!("--regid={gid}"));
            command.arg("--clear-groups");
        }
        command.arg("--").arg(program).env_clear();
        command.env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
        command
    }

    /// Starts `command`; its output is collected.
    ///
    /// # Errors
    ///
    /// It can't be started.
    pub fn start(name: &str, mut command: Command) -> anyhow::Result<Self> {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.process_group(0).spawn().with_context(|| format!("starting {name}"))?;
        let output = Output::default();
        output.collect(child.stdout.take().context("no standard output")?);
        output.collect(child.stderr.take().context("no standard error")?);
        Ok(Self { name: name.to_owned(), child, output })
    }

    /// What it has written.
    #[must_use]
    pub fn output(&self) -> &Output {
        &self.output
    }

    /// Its process id.
    ///
    /// # Errors
    ///
    /// None for a program that was started.
    pub fn pid(&self) -> anyhow::Result<Pid> {
        Pid::from_raw(i32::try_from(self.child.id())?).context("no process id")
    }

    /// Sends `signal` to the program alone.
    ///
    /// # Errors
    ///
    /// It is gone.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        Ok(kill_process(self.pid()?, signal)?)
    }

    /// Waits until the program and its children are gone.
    ///
    /// # Errors
    ///
    /// They are not within the time.
    pub fn wait(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        self.output.wait_for_end(within).with_context(|| format!("the end of {}", self.name))?;
        Ok(self.child.wait()?)
    }

    /// SIGTERM, then waits for the end.
    ///
    /// # Errors
    ///
    /// It does not end within the time.
    pub fn stop(&mut self, within: Duration) -> anyhow::Result<ExitStatus> {
        self.signal(Signal::TERM)?;
        self.wait(within)
    }

    /// SIGKILL to the program and its children, as a crash of the machine would.
    ///
    /// # Errors
    ///
    /// Something of it survives.
    pub fn kill(&mut self) -> anyhow::Result<()> {
        let group = self.pid()?;
        if test_kill_process_group(group).is_ok() {
            kill_process_group(group, Signal::KILL)?;
        }
        self.wait(Duration::from_secs(10)).map(|_| ())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("--- {} wrote:\n{}\n---", self.name, self.output.text());
        }
        if let Err(error) = self.kill() {
            assert!(std::thread::panicking(), "{} is left over: {error:#}", self.name);
        }
    }
}
