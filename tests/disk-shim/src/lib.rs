//! Preloaded into a program, makes writes and syncs below a folder slow or fail.
//!
//! `DISK_SHIM_CONTROL` names a file with at most 16 orders, one a line (see [`order`]). It is
//! opened when the program starts, before the program gives up rights, and read at every call.

mod order;

use std::ffi::{c_int, c_long, c_void};
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use order::{Act, Call};

/// The control file's descriptor; negative: there is none.
static CONTROL: AtomicI32 = AtomicI32::new(-1);

/// Opens the control file before `main`.
#[cfg_attr(not(test), used, unsafe(link_section = ".init_array"))]
#[cfg_attr(test, expect(dead_code, reason = "a test opens nothing"))]
static OPEN_CONTROL: extern "C" fn() = {
    extern "C" fn open_control() {
        // SAFETY: the name ends with a zero byte; the answer is null or a text that stays.
        let path = unsafe { libc::getenv(c"DISK_SHIM_CONTROL".as_ptr()) };
        if !path.is_null() {
            // SAFETY: the path is a text of the environment.
            let file = unsafe { libc::open(path, libc::O_RDONLY | libc::O_CLOEXEC) };
            CONTROL.store(file, Ordering::Relaxed);
        }
    }
    open_control
};

/// Obeys the first order that fits a call on this descriptor. False: `errno` is set.
fn allowed(call: Call, file: c_int) -> bool {
    let control = CONTROL.load(Ordering::Relaxed);
    let mut text = [0_u8; 2_048];
    // SAFETY: the buffer is as long as is said.
    let length = unsafe { libc::pread(control, text.as_mut_ptr().cast::<c_void>(), text.len(), 0) };
    let Some(orders) = usize::try_from(length).ok().and_then(|length| text.get(..length)) else {
        return true;
    };
    if orders.is_empty() {
        return true;
    }
    let link = format!("/proc/self/fd/{file}");
    let Ok(path) = std::fs::read_link(link) else { return true };
    match order::due(orders, call, &path) {
        None => true,
        Some(Act::Delay(milliseconds)) => {
            std::thread::sleep(Duration::from_millis(milliseconds));
            true
        }
        Some(Act::Fail(errno)) => {
            // SAFETY: the C library's own place for this thread.
            unsafe { *libc::__errno_location() = errno };
            false
        }
    }
}

macro_rules! in_front_of {
    ($($call:ident $name:ident($($argument:ident: $type:ty),*) -> $answer:ty = $number:ident;)*) => { $(
        /// As the C library's.
        ///
        /// # Safety
        ///
        /// As the C library's.
        #[cfg_attr(not(test), unsafe(no_mangle))]
        pub unsafe extern "C" fn $name(file: c_int $(, $argument: $type)*) -> $answer {
            if !allowed(Call::$call, file) {
                return -1;
            }
            // SAFETY: the system call takes what the caller gave, unchanged.
            let answer: c_long = unsafe { libc::syscall(libc::$number, file $(, $argument)*) };
            #[expect(clippy::allow_attributes, reason = "not for every type")]
            #[allow(clippy::cast_possible_truncation, reason = "0 or -1 where it is shorter")]
            let answer = answer as $answer;
            answer
        }
    )* };
}

in_front_of! {
    Write write(from: *const c_void, length: usize) -> isize = SYS_write;
    Write pwrite(from: *const c_void, length: usize, at: i64) -> isize = SYS_pwrite64;
    Write pwrite64(from: *const c_void, length: usize, at: i64) -> isize = SYS_pwrite64;
    Write writev(parts: *const libc::iovec, count: c_int) -> isize = SYS_writev;
    Write ftruncate(length: i64) -> c_int = SYS_ftruncate;
    Write ftruncate64(length: i64) -> c_int = SYS_ftruncate;
    Sync fsync() -> c_int = SYS_fsync;
    Sync fdatasync() -> c_int = SYS_fdatasync;
}
