//! `chancery-hsm`: what an operator does with token, journal and approvals.

mod home;
mod init;
mod journal;
mod keyring;
mod operator;
mod profile;
mod secret_file;
mod settings;
mod token_setup;

use std::alloc::System;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use chancery_shared::id::ApprovalId;
use chancery_shared::wire::operator::{Decision, Nothing, Request, TokenName};
use clap::{Parser, Subcommand};
use zeroizing_alloc::ZeroAlloc;

use crate::home::Home;
use crate::operator::OperatorSocket;

/// PINs pass through buffers that no type of ours owns.
#[global_allocator]
static ALLOCATOR: ZeroAlloc<System> = ZeroAlloc(System);

/// The operator's tool of Chancery.
#[derive(Debug, Parser)]
#[command(name = "chancery-hsm", version, disable_help_subcommand = true)]
struct Arguments {
    /// Where configuration, token, journal and sockets are.
    #[arg(long, global = true, env = "CHANCERY_HOME", default_value = "chancery-home")]
    home: PathBuf,
    /// Answers in JSON.
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Makes home, token, PINs and configuration; keeps whatever is there.
    Init(init::Options),
    /// Works on the journal's files, also while the signer is stopped.
    #[command(subcommand)]
    Journal(JournalCommand),
    /// Works on the keyring's file while the signer is stopped.
    #[command(subcommand)]
    Keyring(KeyringCommand),
    /// How the signer is.
    Status,
    /// Which requests wait for a decision.
    Pending,
    /// What a request would do, whole: look at it before you approve.
    Show {
        /// As `pending` shows it.
        approval_id: ApprovalId,
    },
    /// Lets a waiting request pass; the signer does it at once.
    Approve {
        /// As `pending` shows it.
        approval_id: ApprovalId,
    },
    /// Ends a waiting request.
    Deny {
        /// As `pending` shows it.
        approval_id: ApprovalId,
    },
    /// Lets the signer sign again although entries that the API knows are missing.
    AcceptJournal,
    /// Takes the clock as it is now for right.
    AcceptClock,
    /// Tries the PIN of a token again, after it was put right.
    ClearPinRefusal {
        /// Its name in signer.toml.
        token: String,
    },
}

#[derive(Debug, Subcommand)]
enum JournalCommand {
    /// Checks every record: checksum, number, hash chain, and each serial number from its nonce.
    Verify,
    /// Writes each entry as a line of JSON, as it is stored, and checks the chain on the way.
    Export {
        /// Only entries after this number.
        #[arg(long, default_value_t = 0)]
        after: u64,
    },
}

#[derive(Debug, Subcommand)]
enum KeyringCommand {
    /// Checks the journal and writes signer/keyring.json anew from its entries.
    Rebuild,
}

fn main() -> ExitCode {
    // `init` starts this program again as the worker that makes the token.
    chancery_signer::token::run_worker_if_asked();
    match run() {
        Ok(code) => code,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "chancery-hsm: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<ExitCode> {
    let Arguments { home, json, command } = Arguments::parse();
    let home = Home::at(&home).with_context(|| format!("the home {}", home.display()))?;
    let request = match command {
        Command::Init(options) => {
            write(&init::init(&home, &options)?.to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Journal(JournalCommand::Verify) => {
            let verdict = journal::verify(&home.journal());
            write(&if json { verdict.to_json() } else { verdict.to_string() })?;
            return Ok(if verdict.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        Command::Journal(JournalCommand::Export { after }) => {
            return journal::export(&home.journal(), after);
        }
        Command::Keyring(KeyringCommand::Rebuild) => {
            let rebuilt = keyring::rebuild(&home)?;
            write(&if json { rebuilt.to_json() } else { rebuilt.to_string() })?;
            return Ok(ExitCode::SUCCESS);
        }
        Command::Status => Request::Status(Nothing {}),
        Command::Pending => Request::Pending(Nothing {}),
        Command::Show { approval_id } => Request::Show(Decision { approval_id }),
        Command::Approve { approval_id } => Request::Approve(Decision { approval_id }),
        Command::Deny { approval_id } => Request::Deny(Decision { approval_id }),
        Command::AcceptJournal => Request::AcceptJournal(Nothing {}),
        Command::AcceptClock => Request::AcceptClock(Nothing {}),
        Command::ClearPinRefusal { token } => Request::ClearPinRefusal(TokenName { token }),
    };
    let reply = OperatorSocket::connect(&home.operator_socket())?.ask(&request)?;
    write(&if json { serde_json::to_string_pretty(&reply)? } else { operator::words(&reply) })?;
    Ok(ExitCode::SUCCESS)
}

/// A reader that went away (`chancery-hsm status | head -1`) is no failure.
fn write(text: &str) -> std::io::Result<()> {
    match writeln!(std::io::stdout(), "{}", text.trim_end()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
