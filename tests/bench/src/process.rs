//! What a process has used, as the kernel counts it.

use std::fs;
use std::time::Duration;

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};

/// The kernel counts in these (`USER_HZ`, the same on all platforms that this runs on).
const TICK: Duration = Duration::from_millis(10);

/// CPU time of a process since its start, user and system, threads that ended included.
pub(crate) fn cpu(pid: i32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The second field is the program's name in parentheses, and may have blanks.
    let (_, fields) = stat.rsplit_once(')').context("no process")?;
    let mut fields = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    let mut next = || fields.next().context("too few fields")?.context("no number");
    Ok(TICK * (next()? + next()?))
}

/// CPU time of this process.
pub(crate) fn own_cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    let seconds = Duration::from_secs(time.tv_sec.unsigned_abs());
    seconds + Duration::from_nanos(time.tv_nsec.unsigned_abs())
}

/// The most memory that a process has had, in bytes.
pub(crate) fn peak_memory(pid: i32) -> anyhow::Result<u64> {
    status(pid, "VmHWM:")
}

/// The memory that a process has now, in bytes.
pub(crate) fn memory(pid: i32) -> anyhow::Result<u64> {
    status(pid, "VmRSS:")
}

fn status(pid: i32, field: &str) -> anyhow::Result<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(field)).context("no such field")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse()?;
    Ok(kibibytes * 1024)
}

/// The processes of this name.
pub(crate) fn named(name: &str) -> anyhow::Result<Vec<i32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|text| text.parse().ok()) else {
            continue;
        };
        // One that ended meanwhile has no name.
        let comm = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
        if comm.trim() == name {
            found.push(pid);
        }
    }
    Ok(found)
}
