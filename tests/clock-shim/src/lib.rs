//! Preloaded into a program, moves its wall clock as if someone had set it.
//!
//! `CLOCK_SHIM_CONTROL` names a file with a number of seconds, which is added to what the kernel
//! says; no number is 0. It is opened when the program starts, before the program gives up rights,
//! and read at every call. Clocks that no one can set stay as they are.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicI32, Ordering};

/// The control file's descriptor; negative: there is none.
static CONTROL: AtomicI32 = AtomicI32::new(-1);

/// Opens the control file before `main`.
#[cfg_attr(not(test), used, unsafe(link_section = ".init_array"))]
#[cfg_attr(test, expect(dead_code, reason = "a test opens nothing"))]
static OPEN_CONTROL: extern "C" fn() = {
    extern "C" fn open_control() {
        // SAFETY: the name ends with a zero byte; the answer is null or a text that stays.
        let path = unsafe { libc::getenv(c"CLOCK_SHIM_CONTROL".as_ptr()) };
        if !path.is_null() {
            // SAFETY: the path is a text of the environment.
            let file = unsafe { libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC) };
            CONTROL.store(file, Ordering::Relaxed);
        }
    }
    open_control
};

/// By how many seconds the wall clock is moved.
fn moved_by() -> i64 {
    let mut text = [0_u8; 24];
    let control = CONTROL.load(Ordering::Relaxed);
    // SAFETY: the buffer is as long as is said.
    let length = unsafe { libc::pread(control, text.as_mut_ptr().cast::<c_void>(), text.len(), 0) };
    usize::try_from(length).ok().and_then(|length| seconds(text.get(..length)?)).unwrap_or(0)
}

fn seconds(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.trim().parse().ok()
}

/// As the C library's.
///
/// # Safety
///
/// As the C library's.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn clock_gettime(clock: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    // SAFETY: the system call takes what the caller gave, unchanged.
    let answer = unsafe { libc::syscall(libc::SYS_clock_gettime, clock, time) };
    if answer != 0 {
        return -1;
    }
    if matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE) {
        // SAFETY: the kernel has just written there.
        let time = unsafe { &mut *time };
        time.tv_sec = time.tv_sec.saturating_add(moved_by());
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_seconds_is_read_and_anything_else_is_none() {
        for (text, expected) in [("-3600\n", Some(-3600)), ("86400", Some(86_400)), ("", None)] {
            assert_eq!(seconds(text.as_bytes()), expected, "{text:?}");
        }
    }
}
