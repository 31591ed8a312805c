//! How long one input may take and how much memory.
//!
//! libFuzzer's own bounds are too coarse to be these: `-timeout` counts whole seconds of the wall
//! clock, and `-rss_limit_mb` the memory of the whole process, which the counters alone fill.

use std::alloc::System;
use std::panic;
use std::sync::Once;
use std::time::Duration;

use cap::Cap;
use rustix::time::{ClockId, clock_gettime};

/// Memory that one input may have in use at once, beside what was in use before it.
const MEMORY: usize = 64 * 1024 * 1024;

/// Processor time of one input. The counters make code several times slower than it is shipped.
const TIME: Duration = Duration::from_millis(100);

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Does `work` on one input. Over the time it panics; over the memory an allocation fails and the
/// process aborts. libFuzzer keeps the input in either case.
///
/// # Panics
///
/// `work` took too long, or panicked itself.
pub fn within_bounds(work: impl FnOnce()) {
    static HOOKED: Once = Once::new();
    HOOKED.call_once(|| {
        let report = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            // What tells of a panic reads the debug information of the whole program.
            let _ = ALLOCATOR.set_limit(usize::MAX);
            report(panicked);
        }));
    });
    let limit = ALLOCATOR.allocated().saturating_add(MEMORY);
    // The limit is never below what is in use.
    let _ = ALLOCATOR.set_limit(limit);
    let began = processor_time();

    work();

    let took = processor_time().saturating_sub(began);
    let _ = ALLOCATOR.set_limit(usize::MAX);
    assert!(took <= TIME, "this input took {took:?} of processor time; {TIME:?} is the bound");
}

fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}
