//! `chancery-bench`: what a certificate costs on this machine, beside what its signature alone
//! would cost in the same token. Rates differ from machine to machine; the ratios are what counts.

mod database;
mod dn;
mod floor;
mod issue;
mod key;
mod list;
mod measure;
mod memory;
mod overload;
mod process;
mod report;
mod scene;
mod search;
mod seed;
mod slow_disk;
mod start;

use clap::{Parser, Subcommand};

/// Measures a Chancery of its own, on real processes, a real token and a real disk.
#[derive(Debug, Parser)]
#[command(version, disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Issues certificates for CSRs as fast as so many clients can ask.
    Issue(issue::Options),
    /// Issues certificates with a key pair and a PKCS#12 file made by the service.
    Dn(dn::Options),
    /// Four times as many clients as fill the service: what they get, and how fast.
    Overload(overload::Options),
    /// The same clients on a quick disk and on one whose syncs take their time.
    SlowDisk(slow_disk::Options),
    /// Reads the records of a home with a past, all in one answer.
    List(list::Options),
    /// What the processes hold in memory after so many certificates.
    Memory(memory::Options),
    /// Searches a home with a past by each filter.
    Search(search::Options),
    /// Gives a stopped home a past of many certificates.
    Seed(seed::Options),
    /// Measures how long the service takes to become ready on homes with a past.
    Start(start::Options),
    /// Measures the token alone; the other commands call it.
    #[command(hide = true)]
    Floor(floor::Options),
}

fn main() -> anyhow::Result<()> {
    let Arguments { command } = Arguments::parse();
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    anyhow::ensure!(provider.install_default().is_ok(), "there is a crypto provider already");
    match command {
        Command::Issue(options) => issue::run(&options),
        Command::Dn(options) => dn::run(&options),
        Command::Overload(options) => overload::run(&options),
        Command::SlowDisk(options) => slow_disk::run(&options),
        Command::List(options) => list::run(&options),
        Command::Memory(options) => memory::run(&options),
        Command::Search(options) => search::run(&options),
        Command::Seed(options) => seed::run(&options),
        Command::Start(options) => start::run(&options),
        Command::Floor(options) => floor::run_here(&options),
    }
}
