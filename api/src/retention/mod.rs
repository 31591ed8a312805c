//! The life of Key Stores, Local CAs and Certificate Issuers: live, deleted and kept for a while,
//! gone.
//!
//! Who changes one waits until nobody else does ([`crate::store::Write::hold_retained`]), looks, and
//! writes. Of a Local CA the key changes first and the row after it: the row is marked before, and
//! whoever finds a mark that nobody works on finishes it.

mod agreement;
mod delete;
mod failed;
mod guard;
mod items;
mod key;
mod local_ca;
mod purge;
mod refusal;
mod remove;
mod restore;
mod resume;
mod several;
mod state;
#[cfg(test)]
pub(crate) mod tests;
mod told;
mod waiting;

pub use agreement::{Disagreement, Repaired, disagreements, repair};
pub use delete::{delete, rehearse_deletion};
pub use failed::Failed;
pub use guard::{Guard, Hastened, Pause};
pub use items::{Along, Items};
pub use purge::{AtStart, ItemPurger};
pub use refusal::{Refusal, named};
pub use remove::{rehearse_removal, remove};
pub use restore::restore;
pub use resume::run_once as resume_once;
pub use state::{Deleted, Deletion, Live, Retention, TooLate};

use chancery_shared::id::{ApprovalId, UserId};
use serde::{Deserialize, Serialize};

use crate::app::AppState;
use crate::error::ApiError;
use crate::store::retention::ItemId;
use crate::store::{StoreError, Write};

/// Who changes an item. Stored as JSON: a change is a migration.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct By {
    /// The user; `None` for a job.
    pub user_id: Option<UserId>,
    /// That user's name, or the job's.
    pub username: String,
    /// By which the call is traced.
    pub request_id: String,
}

/// What became of an item that was to be deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It can be restored.
    Deleted,
    /// It is gone for good.
    Gone,
}

/// A Local CA that is removed while its key stays, disabled, until the signer's operator decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyWaits {
    /// Of which item.
    pub id: ItemId,
    /// Its name.
    pub name: String,
    /// By which the operator decides, once they were asked.
    pub approval_id: Option<ApprovalId>,
}

/// How long deleted items are kept.
pub fn retention(state: &AppState) -> Retention {
    Retention::from(state.config.purge_after_days)
}

/// Every item as it is until the transaction ends.
///
/// # Errors
///
/// Only if the database fails.
pub async fn hold(state: &AppState, write: &mut Write) -> Result<Items, StoreError> {
    Ok(Items::new(write.hold_retained().await?, retention(state)))
}

/// Begins to write while no item comes, goes or changes what it names, nor any user, team, profile or
/// setting: whoever changes one of them waits until the transaction ends.
///
/// # Errors
///
/// The database fails.
pub async fn begin_alone(state: &AppState) -> Result<Write, StoreError> {
    let mut write = state.store.begin_in_turn().await?;
    write.hold_retained().await?;
    Ok(write)
}

/// Does `checks` while no item comes, goes or changes what it names, nor any user, team, profile or
/// setting; where they fail, the transaction is let go. What they find is so until the transaction
/// ends.
///
/// # Errors
///
/// What the checks say, or the database fails.
pub async fn holding<T>(
    state: &AppState,
    checks: impl Future<Output = Result<T, ApiError>>,
) -> Result<(Write, T), ApiError> {
    let write = begin_alone(state).await?;
    match checks.await {
        Ok(checked) => Ok((write, checked)),
        Err(refused) => {
            write.let_go().await?;
            Err(refused)
        }
    }
}

/// Makes sure that what a new item stands on is live until the transaction ends.
///
/// # Errors
///
/// What the first of them is instead.
pub async fn hold_live(
    state: &AppState,
    write: &mut Write,
    ground: &[ItemId],
) -> Result<(), ApiError> {
    let items = hold(state, write).await?;
    for id in ground {
        items.check_live(*id)?;
    }
    Ok(())
}
