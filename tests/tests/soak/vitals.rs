//! Memory and descriptors of the processes.

use std::collections::BTreeMap;
use std::fs;

use anyhow::Context as _;
use chancery_tests::Installation;
use serde_json::Value;

/// Of each process: resident memory in KiB, open descriptors.
#[derive(Debug)]
pub(crate) struct Vitals(BTreeMap<&'static str, (u64, usize)>);

/// Allocators keep some of what was used once.
const SLACK_KIB: u64 = 8 * 1024;
/// A connection to the database, a client's that is just being closed.
const SLACK_DESCRIPTORS: usize = 6;

impl Vitals {
    pub(crate) fn of(installation: &mut Installation) -> anyhow::Result<Self> {
        let status = installation.signer_status();
        let worker = status.pointer("/tokens/0/workerPid").and_then(Value::as_i64);
        let worker = i32::try_from(worker.context("no signing worker")?)?;
        let api = installation.api().pid()?.as_raw_nonzero().get();
        let signer = installation.signer_mut().pid()?.as_raw_nonzero().get();
        let all = [("API", api), ("signer", signer), ("signing worker", worker)];
        let vitals = all.map(|(name, pid)| Ok((name, (memory(pid)?, descriptors(pid)?))));
        vitals.into_iter().collect::<anyhow::Result<_>>().map(Self)
    }

    pub(crate) fn assert_flat_since(&self, before: &Self) {
        for ((name, (memory, descriptors)), (memory_before, descriptors_before)) in
            self.0.iter().zip(before.0.values())
        {
            assert!(
                *memory <= *memory_before + SLACK_KIB,
                "the {name} grew from {memory_before} to {memory} KiB"
            );
            assert!(
                *descriptors <= *descriptors_before + SLACK_DESCRIPTORS,
                "the {name} had {descriptors_before} descriptors and has {descriptors}"
            );
        }
    }
}

fn memory(pid: i32) -> anyhow::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

fn descriptors(pid: i32) -> anyhow::Result<usize> {
    Ok(fs::read_dir(format!("/proc/{pid}/fd"))?.count())
}
