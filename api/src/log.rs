//! The log: one JSON object a line on standard output, each request's lines under its request id.

use std::error::Error;
use std::fmt;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Why nothing is logged.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// `log.level` is no filter.
    #[error("log.level is no filter")]
    Level(#[source] tracing_subscriber::filter::ParseError),
    /// The process logs already.
    #[error("the process logs already")]
    Twice(#[source] tracing_subscriber::util::TryInitError),
}

/// Logs what `level` lets through from now on, panics too.
///
/// # Errors
///
/// See [`LogError`].
pub fn start(level: &str) -> Result<(), LogError> {
    subscriber(level, std::io::stdout)?.try_init().map_err(LogError::Twice)?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "panic: {}", panic.payload_as_str().unwrap_or("without words"));
    }));
    Ok(())
}

fn subscriber<W>(level: &str, writer: W) -> Result<impl tracing::Subscriber + Send + Sync, LogError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let filter: Targets = level.parse().map_err(LogError::Level)?;
    let lines = tracing_subscriber::fmt::layer()
        .json()
        .flatten_event(true)
        .with_span_list(false)
        .with_writer(writer);
    // One filter for all: a layer's own remembers, on the thread, what it was asked about an event
    // that then never came, and takes the next one for that.
    Ok(registry().with(filter).with(lines))
}

/// An error with all its causes, in one line: none of them repeats the next.
pub struct Chain<'a>(pub &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use axum::response::IntoResponse as _;
    use serde_json::Value;

    use super::*;
    use crate::error::ApiError;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_follows_a_look_whether_something_else_would_be_logged() {
        // Logged once before, so that its place in the code is known to be let through.
        let say = || tracing::info!("said");
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = subscriber("info,chancery_api=debug", move || writer.clone()).unwrap();

        tracing::subscriber::with_default(subscriber, || {
            say();
            // As sqlx asks before each statement, by way of the crate `log`.
            let statement = tracing::debug_span!(target: "sqlx::query", "statement");
            let statement = statement.metadata().unwrap();
            tracing::dispatcher::get_default(|log| log.enabled(statement));
            say();
        });

        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
    }

    #[test]
    fn a_failure_is_one_json_line_with_its_causes_under_its_request_id() {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = subscriber("info", move || writer.clone()).unwrap();

        tracing::subscriber::with_default(subscriber, || {
            let _span = tracing::info_span!("request", request_id = "abc").entered();
            let cause = io::Error::other(io::Error::other("disk full"));
            let _ = ApiError::internal(cause).into_response();
            tracing::debug!("not let through");
        });

        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        let line: Value = serde_json::from_str(text.trim_end()).unwrap();
        assert_eq!(line["span"]["request_id"], "abc");
        assert_eq!(line["level"], "ERROR");
        assert_eq!(line["error"], "internal error: disk full");
        assert_eq!(line["code"], "Internal");
    }
}
