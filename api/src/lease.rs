//! A job that one process at a time does on a shared database.

use chancery_shared::id::RowId;
use time::Duration;

use crate::app::AppState;
use crate::store::{StoreError, Unaudited};

/// Which job, and how long another process waits for one that died while it worked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    pub(crate) name: &'static str,
    pub(crate) holds_for: Duration,
}

/// The right to do a job, asked for under a name of its own.
#[derive(Clone)]
pub(crate) struct Lease<'a> {
    state: &'a AppState,
    job: Job,
    holder: String,
}

impl<'a> Lease<'a> {
    pub(crate) fn new(state: &'a AppState, job: Job) -> Self {
        let holder: RowId = state.new_id();
        Self { state, job, holder: holder.to_string() }
    }

    /// Takes or prolongs it; says whether it is held.
    pub(crate) async fn renew(&self) -> Result<bool, StoreError> {
        let now = self.state.clock.now();
        let until = now + self.job.holds_for;
        self.state.store.take_lease(self.job.name, &self.holder, now, until).await
    }

    /// Lets the next one in. Where that fails, the lease runs out by itself.
    pub(crate) async fn give_back(&self) {
        let given = async {
            let mut write = self.state.store.begin().await?;
            write.give_lease_back(self.job.name, &self.holder).await?;
            write.commit_unaudited(Unaudited::Lease).await
        };
        if let Err(error) = given.await {
            let error = crate::log::Chain(&error).to_string();
            tracing::warn!(job = self.job.name, error, "the right to do a job is given back late");
        }
    }
}
