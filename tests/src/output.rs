//! What a program has written so far, and waiting for more of it.

use std::io::{BufRead as _, BufReader, Read};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The lines of a program's standard output and error, as they come.
#[derive(Clone, Debug, Default)]
pub struct Output {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    lines: Mutex<Lines>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Lines {
    text: Vec<String>,
    open_streams: usize,
}

/// What never came. The text is the whole output until then.
#[derive(Debug, thiserror::Error)]
#[error("waited {waited:?} for {what}; the program wrote:\n{output}")]
pub struct NeverCame {
    what: String,
    waited: Duration,
    output: String,
}

impl Output {
    /// Collects `stream` until its end.
    pub fn collect(&self, stream: impl Read + Send + 'static) {
        self.lines().open_streams += 1;
        let output = self.clone();
        thread::spawn(move || {
            for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
                output.lines().text.push(String::from_utf8_lossy(&line).into_owned());
                output.shared.changed.notify_all();
            }
            output.lines().open_streams -= 1;
            output.shared.changed.notify_all();
        });
    }

    /// Everything so far.
    #[must_use]
    pub fn text(&self) -> String {
        self.lines().text.join("\n")
    }

    /// Looks with `probe` after each line that is written, and now and then between them, until
    /// it sees what it wants.
    ///
    /// # Errors
    ///
    /// It did not within the time, or the program ended before.
    pub fn wait_for<T>(
        &self,
        what: &str,
        within: Duration,
        mut probe: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, NeverCame> {
        // Not everything that a probe looks for is announced by a line.
        const LOOK_AGAIN: Duration = Duration::from_millis(50);
        let began = Instant::now();
        loop {
            let (text, has_ended) = {
                let lines = self.lines();
                (lines.text.join("\n"), lines.open_streams == 0)
            };
            if let Some(seen) = probe(&text) {
                return Ok(seen);
            }
            let waited = began.elapsed();
            if waited > within || has_ended {
                return Err(NeverCame { what: what.to_owned(), waited, output: text });
            }
            let lines = self.lines();
            if lines.text.join("\n") == text {
                drop(self.shared.changed.wait_timeout(lines, LOOK_AGAIN));
            }
        }
    }

    /// Waits until every writer has closed its end: the program and its children are gone.
    ///
    /// # Errors
    ///
    /// They are not within the time.
    pub fn wait_for_end(&self, within: Duration) -> Result<(), NeverCame> {
        let lines = self.lines();
        let (lines, timeout) = self
            .shared
            .changed
            .wait_timeout_while(lines, within, |lines| lines.open_streams > 0)
            .unwrap_or_else(PoisonError::into_inner);
        if timeout.timed_out() {
            let output = lines.text.join("\n");
            return Err(NeverCame { what: "the end".to_owned(), waited: within, output });
        }
        Ok(())
    }

    fn lines(&self) -> MutexGuard<'_, Lines> {
        self.shared.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
