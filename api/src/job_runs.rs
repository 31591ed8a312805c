//! What the last run of each job came to, by whichever process it was.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use crate::app::AppState;
use crate::store::{Store, StoreError, Unaudited};

/// The jobs whose runs are kept.
pub const JOBS: [&str; 3] = ["purge", "key-data", "reconcile"];

/// The last run of a job. Stored as JSON: a change is a migration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRun {
    /// When it ended.
    #[serde(with = "time::serde::rfc3339")]
    pub last_run: OffsetDateTime,
    /// When the next one begins.
    #[serde(with = "time::serde::rfc3339")]
    pub next_run: OffsetDateTime,
    /// Whether it did what it was to do.
    pub is_ok: bool,
    /// One sentence.
    pub result: String,
}

/// Keeps what a run came to. Where that fails, only the log knows.
pub(crate) async fn keep(
    state: &AppState,
    job: &str,
    pause: std::time::Duration,
    outcome: Result<String, String>,
) {
    let now = state.clock.now();
    let next_run = now + Duration::try_from(pause).unwrap_or(Duration::MINUTE);
    let is_ok = outcome.is_ok();
    let (Ok(result) | Err(result)) = outcome;
    let run = JobRun { last_run: now, next_run, is_ok, result };
    let kept = async {
        let text = serde_json::to_string(&run).unwrap_or_default();
        let mut write = state.store.begin().await?;
        write.set_fact(&fact(job), &text).await?;
        write.commit_unaudited(Unaudited::JobRun).await
    };
    if let Err(error) = kept.await {
        let error = crate::log::Chain(&error).to_string();
        tracing::warn!(job, error, "what a job came to is not kept");
    }
}

/// What the last run of the job came to, once there was one.
///
/// # Errors
///
/// Only if the database fails.
pub async fn last(store: &Store, job: &str) -> Result<Option<JobRun>, StoreError> {
    let text = store.fact(&fact(job)).await?;
    // What another version wrote says nothing here.
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
}

fn fact(job: &str) -> String {
    format!("job-{job}")
}
