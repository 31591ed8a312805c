//! A signer on a home of its own, without an API in front: the test speaks in its place.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use chancery_shared::wire::Outcome;
use chancery_shared::wire::operator::{self, Nothing, Status};
use chancery_shared::wire::v1::TokenState;
use rustix::process::Pid;

use crate::home::{self, TestHome};
use crate::peer::Peer;
use crate::program::Program;
use crate::sabotage::Sabotage;

/// A program has so long to do what a test waits for, on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A home whose API user is the user that runs the test.
#[derive(Debug)]
pub struct SignerHome {
    signer: Option<Program>,
    home: TestHome,
}

impl SignerHome {
    /// Initialises a home, with these edits of `signer.toml`.
    ///
    /// # Errors
    ///
    /// What the tool said.
    pub fn create(edits: &[(&str, &str)]) -> anyhow::Result<Self> {
        Ok(Self { signer: None, home: TestHome::create(home::Peer::Test, edits)? })
    }

    /// As [`Self::create`], and the test has the means to sabotage the signer.
    ///
    /// # Errors
    ///
    /// What the tool said.
    pub fn create_to_sabotage(edits: &[(&str, &str)]) -> anyhow::Result<Self> {
        Ok(Self { signer: None, home: TestHome::create_to_sabotage(home::Peer::Test, edits)? })
    }

    /// The means to sabotage it.
    #[must_use]
    pub fn sabotage(&self) -> &Sabotage {
        self.home.sabotage()
    }

    /// The home's folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.home.path()
    }

    /// A command of `chancery-hsm` on this home.
    #[must_use]
    pub fn hsm(&self, arguments: &[&str]) -> Command {
        self.home.hsm(arguments)
    }

    /// A command that starts the signer.
    #[must_use]
    pub fn signer(&self) -> Command {
        self.home.signer()
    }

    /// The API socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.path().join("run/signer.sock")
    }

    /// The operator socket.
    #[must_use]
    pub fn operator_socket(&self) -> PathBuf {
        self.path().join("run/operator.sock")
    }

    /// Starts the signer and waits until its token signs.
    ///
    /// # Errors
    ///
    /// It ended, or its token does not become ready; the error has the log.
    pub fn start(&mut self) -> anyhow::Result<()> {
        self.spawn()?;
        self.wait_for("the token to sign", |status| {
            status.halted.is_none()
                && status.tokens.iter().all(|token| token.summary.state == TokenState::Ok)
        })
    }

    /// Starts the signer and waits until it answers, however its token is.
    ///
    /// # Errors
    ///
    /// It ended; the error has the log.
    pub fn spawn(&mut self) -> anyhow::Result<()> {
        self.signer = Some(Program::start("the signer", self.home.signer())?);
        self.wait_for("an answer", |_| true)
    }

    /// Waits until the signer's status is as wanted.
    ///
    /// # Errors
    ///
    /// It does not become so, or the signer ended; the error has the log.
    pub fn wait_for(&self, what: &str, wanted: impl Fn(&Status) -> bool) -> anyhow::Result<()> {
        let signer = self.signer.as_ref().context("the signer is not started")?;
        let probe = |_: &str| self.status().is_ok_and(|status| wanted(&status)).then_some(());
        Ok(signer.output().wait_for(what, PATIENCE, probe)?)
    }

    /// What the signer says of itself on the operator socket.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub fn status(&self) -> anyhow::Result<Status> {
        match self.operator(&operator::Request::Status(Nothing {}))? {
            Outcome::Done(operator::Reply::Status(status)) => Ok(*status),
            other => bail!("{other:?}"),
        }
    }

    /// Asks on the operator socket.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub fn operator(
        &self,
        request: &operator::Request,
    ) -> anyhow::Result<Outcome<operator::Reply>> {
        let mut peer = Peer::open(&self.operator_socket())?;
        Ok(peer.exchange::<_, operator::Reply>(request)?.outcome)
    }

    /// The signer's process id.
    ///
    /// # Errors
    ///
    /// It is not started.
    pub fn pid(&self) -> anyhow::Result<Pid> {
        self.signer.as_ref().context("the signer is not started")?.pid()
    }

    /// Ends the signer with SIGTERM and waits for it.
    ///
    /// # Errors
    ///
    /// It does not end, or not well.
    pub fn stop(&mut self) -> anyhow::Result<()> {
        let Some(mut signer) = self.signer.take() else { return Ok(()) };
        let status = signer.stop(PATIENCE)?;
        anyhow::ensure!(status.success(), "it ended with {status}\n{}", signer.output().text());
        Ok(())
    }

    /// The signer's log since its start.
    #[must_use]
    pub fn log(&self) -> String {
        self.signer.as_ref().map(|signer| signer.output().text()).unwrap_or_default()
    }
}
