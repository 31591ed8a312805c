//! Whether the signer's keys and the Local CAs agree, and how an administrator makes them.

use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::v1::{KeyState, KeySummary};
use serde_json::json;

use super::By;
use super::key::{CaKey, Enabled};
use super::local_ca::keep_fit;
use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::signer_client::{SignerError, SignerState};
use crate::store::local_ca::{LocalCa, LocalCaStatus};

/// A key or a Local CA that does not fit the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disagreement {
    /// No Local CA has the key.
    WithoutLocalCa(KeySummary),
    /// The signer does not have the CA's key, or its token does not.
    WithoutKey(Box<LocalCa>, KeyId),
    /// The key may sign and its CA is deleted, or the other way round.
    States(Box<LocalCa>, KeySummary),
}

/// What became of a key that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repaired {
    /// It is so now, and fits.
    Now(KeyState),
    /// It belongs to no Local CA, and is disabled now.
    Unused,
    /// It is disabled, and destroyed once the signer's operator approves.
    Awaits(ApprovalId),
}

impl Disagreement {
    /// Which key.
    pub fn key_id(&self) -> KeyId {
        match self {
            Self::WithoutLocalCa(key) | Self::States(_, key) => key.key_id,
            Self::WithoutKey(_, key_id) => *key_id,
        }
    }
}

/// All that does not fit, as far as the signer is known.
///
/// # Errors
///
/// The signer can't be reached, or the database failed.
pub async fn disagreements(state: &AppState) -> Result<Vec<Disagreement>, ApiError> {
    // The signer before the rows: what is made meanwhile has its row already.
    let signer = state.signer.state();
    if !signer.is_reachable() {
        return Err(SignerError::Unreachable.into());
    }
    Ok(compare(&signer, &state.store.every_local_ca().await?))
}

fn compare(signer: &SignerState, cas: &[LocalCa]) -> Vec<Disagreement> {
    let own = |ca: &&LocalCa| ca.signer_id.is_none() || ca.signer_id == signer.signer_id();
    // A key that is just being made is not noted with its row yet.
    let makes_keys = cas.iter().any(|ca| ca.key_id.is_none());
    let nobodys = signer.keys().iter().filter(|key| {
        let is_anybodys = cas.iter().any(|ca| ca.key_id == Some(key.key_id));
        key.state != KeyState::Destroyed && !makes_keys && !is_anybodys
    });
    let mut found: Vec<_> = nobodys.cloned().map(Disagreement::WithoutLocalCa).collect();
    for ca in cas.iter().filter(own).filter(|ca| is_at_rest(ca)) {
        let Some(key_id) = ca.key_id else { continue };
        let is_there = |key: &&KeySummary| key.state != KeyState::Destroyed && !key.is_missing;
        match signer.key(key_id).filter(is_there) {
            None => found.push(Disagreement::WithoutKey(Box::new(ca.clone()), key_id)),
            Some(key) if (key.state == KeyState::Live) != ca.deleted_at.is_none() => {
                found.push(Disagreement::States(Box::new(ca.clone()), key.clone()));
            }
            Some(_) => {}
        }
    }
    found
}

fn is_at_rest(ca: &LocalCa) -> bool {
    let is_made =
        matches!(ca.status, LocalCaStatus::Live | LocalCaStatus::Offline | LocalCaStatus::Revoked);
    is_made && ca.transition.is_none()
}

/// Makes a key fit: it is enabled where its CA is live, and disabled where that is deleted. One that
/// belongs to no CA is disabled, and asked about once more it is destroyed: what an older copy of the
/// database does not know can be taken back until then.
///
/// # Errors
///
/// [`Code::NotFound`] where nothing is wrong with such a key, [`Code::KeyGone`] where there is none
/// to change, or signer or database failed.
pub async fn repair(state: &AppState, by: &By, key_id: KeyId) -> Result<Repaired, ApiError> {
    let all = disagreements(state).await?;
    let found = all.into_iter().find(|found| found.key_id() == key_id);
    let found = found.ok_or_else(|| ApiError::not_found("key that needs repair"))?;
    let (name, before, wanted) = match &found {
        Disagreement::WithoutKey(ca, _) => {
            let message = format!(
                "the signer does not have the key of the Local CA {}; bring its token back, or \
                 force-delete the CA",
                ca.name
            );
            return Err(ApiError::refused(Code::KeyGone, message));
        }
        Disagreement::States(ca, key) if ca.deleted_at.is_none() => {
            (&*ca.name, key.state, KeyState::Live)
        }
        Disagreement::States(ca, key) => (&*ca.name, key.state, KeyState::Disabled),
        Disagreement::WithoutLocalCa(key) if key.state == KeyState::Disabled => {
            ("", key.state, KeyState::Destroyed)
        }
        Disagreement::WithoutLocalCa(key) => ("", key.state, KeyState::Disabled),
    };
    // Told first: what can't be told is not done.
    let entry = state.audited("repair", "status").on(&key_id, name);
    let entry = entry.before(json!({"state": before})).after(json!({"wantedState": wanted}));
    state.store.add_audit_entries(&[entry.into()]).await?;
    let repaired = match &found {
        Disagreement::WithoutKey(..) => None,
        Disagreement::States(ca, _) => {
            let key = CaKey { state, ca, by };
            if ca.deleted_at.is_some() {
                key.disable().await?;
                Some(Repaired::Now(KeyState::Disabled))
            } else {
                let enabled = key.enable().await?;
                keep_fit(state, by, ca).await?;
                matches!(enabled, Enabled::Now).then_some(Repaired::Now(KeyState::Live))
            }
        }
        Disagreement::WithoutLocalCa(key) if wanted == KeyState::Destroyed => {
            let awaits = super::key::destroy_nobodys(state, by, key.key_id).await?;
            Some(awaits.map_or(Repaired::Now(wanted), Repaired::Awaits))
        }
        Disagreement::WithoutLocalCa(key) => {
            super::key::disable_nobodys(state, by, key.key_id).await?;
            Some(Repaired::Unused)
        }
    };
    let Some(repaired) = repaired else {
        let message = "the signer's operator decides on it, or the key is destroyed; see \
                       chancery-hsm pending";
        return Err(ApiError::refused(Code::WrongState, message));
    };
    tracing::warn!(username = by.username, %key_id, "an administrator has made a key fit");
    Ok(repaired)
}
