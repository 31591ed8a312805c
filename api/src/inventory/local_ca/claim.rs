//! The right to work on an unfinished Local CA: the request that makes it has it first, then
//! whoever finishes what that left.

use time::{Duration, OffsetDateTime};

use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::store::local_ca::{LocalCa, LocalCaClaim};
use crate::store::{StoreError, Unaudited};

/// A claim holds this long without being prolonged. A request that makes a CA is over by then, one
/// way or the other: it asks the signer twice, for a key and for a signature, and each has a slot
/// after 10 s and an answer after 29 s more.
const CLAIM: Duration = Duration::seconds(120);

/// Until when a claim holds that is taken or prolonged now.
pub(super) fn until(state: &AppState) -> OffsetDateTime {
    state.clock.now() + CLAIM
}

/// Takes the claim on the CA, if nobody has it.
pub(super) async fn take(
    state: &AppState,
    ca: &LocalCa,
) -> Result<Option<LocalCaClaim>, StoreError> {
    let claim = LocalCaClaim { local_ca_id: ca.id, holder: state.new_id() };
    let mut write = state.store.begin().await?;
    let is_held = write.claim_local_ca(claim, state.clock.now(), until(state)).await?;
    write.commit_unaudited(Unaudited::LocalCaStep).await?;
    Ok(is_held.then_some(claim))
}

/// Lets the next one in. Where that fails, the claim runs out by itself.
pub(super) async fn release(state: &AppState, claim: LocalCaClaim) {
    let released = async {
        let mut write = state.store.begin().await?;
        write.release_local_ca(claim).await?;
        write.commit_unaudited(Unaudited::LocalCaStep).await
    };
    if let Err(error) = released.await {
        let error = crate::log::Chain(&error).to_string();
        tracing::warn!(local_ca.id = %claim.local_ca_id, error, "a claim is given back late");
    }
}

/// What the one is told who worked on a CA for so long that another took it over.
pub(super) fn check(is_held: bool, ca: &LocalCa) -> Result<(), ApiError> {
    if is_held {
        return Ok(());
    }
    let message = format!(
        "the making of the Local CA {} took too long, and is finished or taken back by itself; \
         look before you ask again",
        ca.name
    );
    Err(ApiError::refused(Code::OutcomeUnknown, message))
}
