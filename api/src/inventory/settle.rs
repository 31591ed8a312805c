//! A change of who may have what, and the requests that were let in before it.

use crate::app::AppState;
use crate::issuance::under_way::SERVES;
use crate::log::Chain;

/// Returns once nothing is signed any more for who was let in before the change that the caller
/// has committed: what this process has under way is over then, and another process looks again
/// before it turns to the signer. What that one had asked by then may still be answered.
pub(crate) async fn settle(state: &AppState) {
    let others = async {
        let is_alone = match state.store.api_processes().await {
            Ok(processes) => processes.len() <= 1,
            Err(error) => {
                tracing::debug!(error = %Chain(&error), "there may be other processes");
                false
            }
        };
        if !is_alone {
            tokio::time::sleep(2 * SERVES).await;
        }
    };
    tokio::join!(state.under_way.turn(), others);
}
