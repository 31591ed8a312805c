//! A Local CA from one state to the next, in steps that can each be found half-done and finished:
//! mark, key, row.

use chancery_shared::fail_point;
use chancery_shared::id::ApprovalId;
use time::Duration;

use super::key::{CaKey, Disabled, Enabled};
use super::{By, guard, told};
use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::signer_client::SignerError;
use crate::store::local_ca::LocalCa;
use crate::store::retention::{ItemId, Transition, TransitionClaim};
use crate::store::{StoreError, Unaudited, Write};

/// A claim holds this long: the signer is asked three times at most, and each question is over
/// within 39 s.
const CLAIM: Duration = Duration::seconds(120);

/// Whether anybody may have asked the signer already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// Nobody has: what fails without an effect leaves the CA as it was.
    First,
    /// Somebody may have: it is gone through with.
    Again,
}

/// A marked CA, and who works on it.
pub(super) struct Marked<'a> {
    pub(super) state: &'a AppState,
    pub(super) by: &'a By,
    pub(super) claim: TransitionClaim,
    pub(super) transition: Transition,
}

/// Marks the CA in a transaction that holds the items.
pub(super) async fn mark<'a>(
    state: &'a AppState,
    by: &'a By,
    write: &mut Write,
    id: chancery_shared::id::LocalCaId,
    transition: Transition,
) -> Result<Marked<'a>, ApiError> {
    let claim = TransitionClaim { local_ca_id: id, holder: state.new_id() };
    let by_text = serde_json::to_string(by).map_err(ApiError::internal)?;
    let until = state.clock.now() + CLAIM;
    if !write.mark_transition(claim, transition, &by_text, until).await? {
        return Err(ApiError::internal("a Local CA in transition was to be marked again"));
    }
    Ok(Marked { state, by, claim, transition })
}

/// Takes over what somebody has left.
pub(super) async fn take<'a>(
    state: &'a AppState,
    by: &'a By,
    id: chancery_shared::id::LocalCaId,
    transition: Transition,
) -> Result<Option<Marked<'a>>, StoreError> {
    let claim = TransitionClaim { local_ca_id: id, holder: state.new_id() };
    let now = state.clock.now();
    let mut write = state.store.begin().await?;
    let is_held = write.take_transition(claim, transition, now, now + CLAIM).await?;
    write.commit_unaudited(Unaudited::LocalCaStep).await?;
    Ok(is_held.then_some(Marked { state, by, claim, transition }))
}

impl Marked<'_> {
    /// Key first, then row; answers the approval for which the end of a removed CA's key waits.
    ///
    /// # Errors
    ///
    /// Of a first attempt: the CA is what it was, unless the outcome is unknown; then, and after
    /// any later attempt, the mark stays and the next look goes on from there.
    pub(super) async fn carry_out(&self, attempt: Attempt) -> Result<Option<ApprovalId>, ApiError> {
        let ca = self.state.store.local_ca(self.claim.local_ca_id).await;
        let Some(ca) = ca.map_err(|error| after_mark(error.into()))? else {
            return Ok(None);
        };
        fail_point::reach(match self.transition {
            Transition::Deleting => "api: deletion marked",
            Transition::Restoring => "api: restore marked",
            Transition::Removing => "api: removal marked",
        });
        let key = CaKey { state: self.state, ca: &ca, by: self.by };
        let done = match self.transition {
            Transition::Deleting => self.delete(&key, attempt).await.map(|()| None),
            Transition::Restoring => self.restore(&key, attempt).await.map(|()| None),
            Transition::Removing => self.remove(&key, attempt).await,
        };
        done.map_err(after_mark)
    }

    async fn delete(&self, key: &CaKey<'_>, attempt: Attempt) -> Result<(), ApiError> {
        if let Err(error) = key.disable().await {
            return Err(self.failed(key.ca, error, attempt).await);
        }
        fail_point::reach("api: key disabled");
        // Before the transaction: what holds a connection asks for no second one.
        let now = guard::moment_of_deletion(self.state).await?;
        let mut write = self.state.store.begin().await?;
        let is_held = write.set_local_ca_deleted(self.claim, now, &self.by.username).await?;
        self.finish(write, is_held, key.ca, None).await
    }

    async fn restore(&self, key: &CaKey<'_>, attempt: Attempt) -> Result<(), ApiError> {
        match key.enable().await {
            Ok(Enabled::Now) => {}
            Ok(Enabled::Awaits(approval)) => {
                self.wait_for(key.ca, approval).await?;
                let message = format!(
                    "the Local CA {} is restored by itself once the signer's operator approves it: \
                     chancery-hsm approve {approval}",
                    key.ca.name
                );
                return Err(ApiError::refused(Code::WrongState, message));
            }
            Ok(Enabled::Never) => {
                self.give_up().await?;
                let message = format!(
                    "the key of the Local CA {} is destroyed or not known to the signer; it can't \
                     be restored",
                    key.ca.name
                );
                return Err(ApiError::refused(Code::CaNotLive, message));
            }
            Err(error) => return Err(self.failed(key.ca, error, attempt).await),
        }
        fail_point::reach("api: key enabled");
        self.set_restored(key.ca).await
    }

    /// The key is live: so is the row.
    pub(super) async fn set_restored(&self, ca: &LocalCa) -> Result<(), ApiError> {
        let mut write = self.state.store.begin().await?;
        let is_held = write.set_local_ca_restored(self.claim).await?;
        let finished = self.finish(write, is_held, ca, None).await;
        if !is_held {
            keep_fit(self.state, self.by, ca).await?;
        }
        finished
    }

    async fn remove(
        &self,
        key: &CaKey<'_>,
        attempt: Attempt,
    ) -> Result<Option<ApprovalId>, ApiError> {
        let disabled = match key.disable().await {
            Ok(disabled) => disabled,
            Err(error) => return Err(self.failed(key.ca, error, attempt).await),
        };
        fail_point::reach("api: key disabled");
        let destroyed = match disabled {
            Disabled::None => Ok(None),
            Disabled::Now | Disabled::Ending => key.destroy().await,
        };
        let awaits = match destroyed {
            Ok(awaits) => awaits,
            Err(error) => {
                // What may be gone can't come back; what is only disabled can.
                let is_undone = self.undo(key, &error, attempt).await;
                let attempt = if is_undone { Attempt::First } else { Attempt::Again };
                return Err(self.failed(key.ca, error, attempt).await);
            }
        };
        fail_point::reach("api: key destroyed");
        let mut write = self.state.store.begin().await?;
        let is_held = write.remove_local_ca(self.claim).await?;
        self.finish(write, is_held, key.ca, awaits).await?;
        Ok(awaits)
    }

    /// After a destroy that was refused: whether the key is again what it was.
    async fn undo(&self, key: &CaKey<'_>, error: &SignerError, attempt: Attempt) -> bool {
        if attempt == Attempt::Again || error.outcome_is_unknown() {
            return false;
        }
        if !matches!(key.disable().await, Ok(Disabled::Now)) {
            return false;
        }
        key.ca.deleted_at.is_some() || matches!(key.enable().await, Ok(Enabled::Now))
    }

    /// Of a first attempt that had no effect the mark goes; else it stays for the next look.
    async fn failed(&self, ca: &LocalCa, error: SignerError, attempt: Attempt) -> ApiError {
        let given_back = if attempt == Attempt::First && !error.outcome_is_unknown() {
            self.give_up().await
        } else {
            self.release().await
        };
        if let Err(error) = given_back {
            return error.into();
        }
        if !error.outcome_is_unknown() && attempt == Attempt::First {
            return error.into();
        }
        tracing::warn!(
            local_ca.id = %self.claim.local_ca_id, transition = self.transition.as_str(),
            error = %crate::log::Chain(&error), "a Local CA stays in transition for a while"
        );
        let message = format!(
            "the signer did not finish it; the Local CA {} is {} until that goes on by itself, so \
             look before you ask again",
            ca.name,
            self.transition.as_str()
        );
        ApiError::refused(Code::OutcomeUnknown, message)
    }

    pub(super) async fn give_up(&self) -> Result<(), StoreError> {
        let mut write = self.state.store.begin().await?;
        write.give_transition_up(self.claim).await?;
        write.commit_unaudited(Unaudited::LocalCaStep).await
    }

    pub(super) async fn release(&self) -> Result<(), StoreError> {
        let mut write = self.state.store.begin().await?;
        write.release_transition(self.claim).await?;
        write.commit_unaudited(Unaudited::LocalCaStep).await
    }

    async fn finish(
        &self,
        write: Write,
        is_held: bool,
        ca: &LocalCa,
        awaits: Option<ApprovalId>,
    ) -> Result<(), ApiError> {
        let action = match self.transition {
            Transition::Deleting => "delete",
            Transition::Restoring => "restore",
            Transition::Removing => told::removal(self.by),
        };
        if is_held {
            let item = (ItemId::LocalCa(ca.id), ca.name.as_str());
            let entry = told::entry(self.state, self.by, action, item);
            write.commit(told::awaiting(entry, awaits)).await?;
        } else {
            write.commit_unaudited(Unaudited::Nothing).await?;
            let message = format!(
                "it took too long, and is finished by itself; look what became of the Local CA {}",
                ca.name
            );
            return Err(ApiError::refused(Code::OutcomeUnknown, message));
        }
        let (verb, place) = match self.transition {
            Transition::Deleting => ("deleted", "api: deletion recorded"),
            Transition::Restoring => ("restored", "api: restore recorded"),
            Transition::Removing => ("removed for good", "api: removal recorded"),
        };
        tracing::info!(
            username = self.by.username, local_ca.id = %ca.id, local_ca.name = ca.name,
            "{verb} a Local CA"
        );
        fail_point::reach(place);
        Ok(())
    }
}

/// A key was enabled while nobody looked at the row: where the CA is deleted by now, nobody may use
/// it.
pub(super) async fn keep_fit(state: &AppState, by: &By, ca: &LocalCa) -> Result<(), ApiError> {
    let row = state.store.local_ca(ca.id).await?;
    if row.is_none_or(|row| row.deleted_at.is_some() && row.transition.is_none()) {
        CaKey { state, ca, by }.disable().await?;
    }
    Ok(())
}

/// What failed in the database once a transition was marked goes on by itself.
fn after_mark(error: ApiError) -> ApiError {
    let ApiError::Store(error) = error else { return error };
    tracing::warn!(
        error = %crate::log::Chain(&error),
        "a change of a Local CA is not recorded yet; it is finished by itself"
    );
    let message = "the database failed in the middle of it; it goes on by itself within minutes, so \
                   look before you ask again";
    ApiError::refused(Code::OutcomeUnknown, message)
}
