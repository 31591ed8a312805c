//! Places where a test may stop a process, to kill it exactly there. A release build has none.
//!
//! A file, named by [`VARIABLE`], holds the name of one place. The first process to reach it
//! writes [`REACHED`] and its process id there instead, and that thread goes no further.

/// Names the file, in the environment of each process.
pub const VARIABLE: &str = "CHANCERY_FAIL_POINT";
/// Stands in the file, followed by a space and the process id, once the place was reached.
pub const REACHED: &str = "reached";

pub use place::{arm, reach};

#[cfg(not(all(feature = "fail-points", debug_assertions)))]
mod place {
    /// Does nothing in this build.
    #[inline]
    pub fn arm() {}

    /// Does nothing in this build.
    #[inline]
    pub fn reach(_place: &'static str) {}
}

#[cfg(all(feature = "fail-points", debug_assertions))]
mod place {
    use std::fs::File;
    use std::os::unix::fs::FileExt as _;
    use std::sync::OnceLock;

    static FILE: OnceLock<Option<File>> = OnceLock::new();

    /// Opens the file. To be called before the process gives up the right to.
    pub fn arm() {
        let open = || {
            let path = std::env::var_os(super::VARIABLE)?;
            File::options().read(true).write(true).open(path).ok()
        };
        FILE.get_or_init(open);
    }

    /// Stops here for ever if the file says so.
    pub fn reach(place: &'static str) {
        let Some(Some(file)) = FILE.get() else { return };
        let mut wanted = [b' '; 64];
        let Ok(length) = file.read_at(&mut wanted, 0) else { return };
        if wanted.get(..length).map(<[u8]>::trim_ascii) != Some(place.as_bytes()) {
            return;
        }
        // As long as the longest name, so that nothing of it is left.
        let reached = format!("{:<64}", format!("{} {}", super::REACHED, std::process::id()));
        if file.write_all_at(reached.as_bytes(), 0).is_ok() {
            loop {
                std::thread::park();
            }
        }
    }
}
