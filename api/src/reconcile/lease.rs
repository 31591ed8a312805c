//! On a shared database one process at a time reconciles.

use chancery_shared::id::RowId;
use time::Duration;

use crate::app::AppState;
use crate::store::StoreError;

/// How long another process waits for one that died while it worked.
pub(super) const LEASE: Duration = Duration::seconds(15);

const NAME: &str = "reconcile";

/// The right to reconcile, asked for under a name of its own.
#[derive(Clone)]
pub(super) struct Lease<'a> {
    state: &'a AppState,
    holder: String,
}

impl<'a> Lease<'a> {
    pub(super) fn new(state: &'a AppState) -> Self {
        let holder: RowId = state.new_id();
        Self { state, holder: holder.to_string() }
    }

    /// Takes or prolongs it; says whether it is held.
    pub(super) async fn renew(&self) -> Result<bool, StoreError> {
        let now = self.state.clock.now();
        self.state.store.take_lease(NAME, &self.holder, now, now + LEASE).await
    }

    /// Lets the next one in. Where that fails, the lease runs out by itself.
    pub(super) async fn give_back(&self) {
        let given = async {
            let mut write = self.state.store.begin().await?;
            write.give_lease_back(NAME, &self.holder).await?;
            write.commit().await
        };
        if let Err(error) = given.await {
            let error = crate::log::Chain(&error).to_string();
            tracing::warn!(error, "the right to reconcile is given back late");
        }
    }
}
