//! What the three kinds of items that can be deleted have in common: parameters and answers.

use serde::Deserialize;

use super::json::retained::{DeletedHead, DeletionAnswer};
use crate::app::AppState;
use crate::audit;
use crate::auth::Administrator;
use crate::error::{ApiError, Dependant};
use crate::request::RequestId;
use crate::retention::{self, Along, By, Items, KeyWaits, Outcome, named};
use crate::server_certificate;
use crate::store::retention::ItemId;
use crate::timestamp;

/// Of `DELETE …/{id}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct DeleteParameters {
    rehearse: Option<String>,
}

/// Of `DELETE …/{id}/force`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct ForceParameters {
    rehearse: Option<String>,
    with_dependants: Option<String>,
}

/// Of `POST …/restore/{id}`.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct RestoreParameters {
    with_dependencies: Option<String>,
}

fn is_set(name: &str, text: Option<&String>) -> Result<bool, ApiError> {
    match text.map(String::as_str) {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        // An empty one, too: whoever writes `?rehearse` wants nothing to happen.
        Some(_) => Err(ApiError::invalid_field(name, "must be true or false")),
    }
}

fn along(name: &str, text: Option<&String>) -> Result<Along, ApiError> {
    Ok(if is_set(name, text)? { Along::Deleted } else { Along::Nothing })
}

/// Who asks.
pub(super) fn by(administrator: &Administrator, request_id: &RequestId) -> By {
    By {
        user_id: Some(administrator.actor().user_id()),
        username: administrator.username().to_owned(),
        request_id: request_id.as_str().to_owned(),
    }
}

/// Deletes the item, or says what that would do; `item` is how it is shown now.
pub(super) async fn delete<T>(
    state: &AppState,
    administrator: &Administrator,
    request_id: &RequestId,
    (id, item): (ItemId, T),
    parameters: &DeleteParameters,
) -> Result<DeletionAnswer<T>, ApiError> {
    let rehearsal = is_set("rehearse", parameters.rehearse.as_ref())?;
    // Counted before: what is gone has no certificates.
    let before = Before::look(state, id, Along::Nothing).await?;
    let by = by(administrator, request_id);
    let (outcome, waiting) = if rehearsal {
        audit::only_reads();
        retention::rehearse_deletion(state, id).await?
    } else {
        retention::delete(state, by.clone(), id).await?
    };
    before.answer(state, &by, item, (outcome, waiting), rehearsal).await
}

/// Removes the item for good, or says what that would do.
pub(super) async fn force<T>(
    state: &AppState,
    administrator: &Administrator,
    request_id: &RequestId,
    (id, item): (ItemId, T),
    parameters: &ForceParameters,
) -> Result<DeletionAnswer<T>, ApiError> {
    let rehearsal = is_set("rehearse", parameters.rehearse.as_ref())?;
    let along = along("withDependants", parameters.with_dependants.as_ref())?;
    let before = Before::look(state, id, along).await?;
    let by = by(administrator, request_id);
    let waiting = if rehearsal {
        audit::only_reads();
        retention::rehearse_removal(state, id, along).await?
    } else {
        retention::remove(state, by.clone(), id, along).await?
    };
    before.answer(state, &by, item, (Outcome::Gone, waiting), rehearsal).await
}

/// Restores the item.
pub(super) async fn restore(
    state: &AppState,
    administrator: &Administrator,
    request_id: &RequestId,
    id: ItemId,
    parameters: &RestoreParameters,
) -> Result<(), ApiError> {
    let along = along("withDependencies", parameters.with_dependencies.as_ref())?;
    retention::restore(state, by(administrator, request_id), id, along).await
}

/// The item and what hangs on it, before anything changes.
struct Before {
    id: ItemId,
    name: String,
    dependants: Vec<Dependant>,
    unexpired: u64,
    about_https: Option<String>,
}

impl Before {
    async fn look(state: &AppState, id: ItemId, along: Along) -> Result<Self, ApiError> {
        let items = Items::new(state.store.retained().await?, retention::retention(state));
        let name = items.get(id)?.name.clone();
        let below = items.below(id);
        let now = state.clock.now();
        let mut unexpired = state.store.unexpired(id, now).await?;
        // What goes along counts too: a Key Store has certificates of its CAs alone, a CA those of
        // its own issuers already.
        let is_of_store = matches!(id, ItemId::KeyStore(_));
        for item in below.iter().filter(|_| is_of_store || along == Along::Deleted) {
            if matches!(item.id, ItemId::LocalCa(_)) {
                unexpired += state.store.unexpired(item.id, now).await?;
            }
        }
        let about_https = server_certificate::warning(&items, id);
        let below: Vec<_> = below.into_iter().cloned().collect();
        Ok(Self { id, name, dependants: named(&below), unexpired, about_https })
    }

    async fn answer<T>(
        self,
        state: &AppState,
        by: &By,
        item: T,
        (outcome, waiting): (Outcome, Vec<KeyWaits>),
        rehearsal: bool,
    ) -> Result<DeletionAnswer<T>, ApiError> {
        let now = state.clock.now();
        let (deleted_at, deleted_by, purge_at) = match outcome {
            Outcome::Gone => (None, None, None),
            Outcome::Deleted => {
                let items = Items::new(state.store.retained().await?, retention::retention(state));
                let found = items.get(self.id).ok();
                match found.and_then(|item| item.deleted.clone()) {
                    // So it is also where a waiting restore is, or would be, taken back.
                    Some((at, by)) => {
                        (Some(at), Some(by), found.and_then(|item| items.purge_at(item)))
                    }
                    None if rehearsal => {
                        let purge_at = retention::retention(state).purge_at(now);
                        (Some(now), Some(by.username.clone()), Some(purge_at))
                    }
                    None => (None, None, None),
                }
            }
        };
        let is_ca = matches!(self.id, ItemId::LocalCa(_));
        let mut warnings = Vec::new();
        if self.unexpired > 0 {
            let Self { name, unexpired, .. } = &self;
            warnings.push(format!(
                "{unexpired} certificates of {name} are neither expired nor revoked; they stay valid \
                 and readable"
            ));
        }
        warnings.extend(self.about_https);
        let key = match outcome {
            Outcome::Gone if waiting.iter().all(|waits| waits.id != self.id) => "destroyed",
            Outcome::Deleted | Outcome::Gone => "disabled",
        };
        warnings.extend(waiting.iter().map(about_key));
        Ok(DeletionAnswer {
            item,
            outcome: match outcome {
                Outcome::Deleted => "deleted",
                Outcome::Gone => "gone",
            },
            rehearsal,
            key: is_ca.then_some(key),
            deleted_at: deleted_at.map(timestamp::with_offset),
            deleted_by,
            purge_at: purge_at.map(timestamp::with_offset),
            dependants: self.dependants,
            unexpired_certificates: self.unexpired,
            warnings,
        })
    }
}

fn about_key(waits: &KeyWaits) -> String {
    let KeyWaits { name, approval_id, .. } = waits;
    let how = approval_id.map_or_else(String::new, |id| format!(": chancery-hsm approve {id}"));
    format!(
        "the key of the Local CA {name} is not destroyed but disabled: it stays in the token until \
         the signer's operator lets it be destroyed{how}"
    )
}

/// The deleted items of one kind, the latest first, with when each is purged.
pub(super) async fn deleted(
    state: &AppState,
    is_kind: impl Fn(ItemId) -> bool,
) -> Result<Vec<(ItemId, DeletedHead)>, ApiError> {
    let items = Items::new(state.store.retained().await?, retention::retention(state));
    let of_kind = items.deleted().into_iter().filter(|item| is_kind(item.id));
    let shown = of_kind.filter_map(|item| {
        let (deleted_at, deleted_by) = item.deleted.clone()?;
        let purge_at = items.purge_at(item)?;
        let Dependant { kind, id, name } = named(std::slice::from_ref(item)).pop()?;
        let head = DeletedHead {
            id,
            name,
            kind,
            deleted_at: timestamp::with_offset(deleted_at),
            deleted_by,
            purge_at: timestamp::with_offset(purge_at),
        };
        Some((item.id, head))
    });
    Ok(shown.collect())
}
