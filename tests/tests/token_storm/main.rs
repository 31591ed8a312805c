//! Workers hung and killed again and again under load, at any moment: every request is answered,
//! the token comes back by itself, no live key is lost, and journal and records agree.

mod key_worker;
mod load;
mod signing_worker;

use rustix::process::{Pid, Signal, kill_process};

/// How often a worker is lost: fifty times where `CHANCERY_TEST_FAULTS` is `all`.
fn rounds() -> u32 {
    let all = std::env::var_os("CHANCERY_TEST_FAULTS").is_some_and(|which| which == "all");
    if all { 50 } else { 8 }
}

/// SIGKILL; whether the process was still there.
fn kill(process: Pid) -> bool {
    kill_process(process, Signal::KILL).is_ok()
}
