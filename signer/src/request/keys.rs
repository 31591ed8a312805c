//! Keys: made, disabled, enabled, destroyed. Each step is journaled before it takes effect.

use std::sync::Arc;

use chancery_shared::bytes::Bytes;
use chancery_shared::fail_point;
use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::wire::journal::{Event, KeyEvent};
use chancery_shared::wire::v1::{
    self, CreateCaKey, KeyChange, KeyChanged, KeyCreated, KeyState, Pending, Reply, Request,
};
use chancery_shared::wire::{JournalHead, MAX_CONTEXT};
use time::OffsetDateTime;

use super::approvals::{self, Parking};
use super::{Answer, ca_certificate};
use crate::config::KeyChangeRule;
use crate::keyring::{Change, KeyRecord, Life};
use crate::limits::MAX_KEYS;
use crate::policy::CaCertificate;
use crate::random;
use crate::refusal::RequestError;
use crate::signer::Signer;
use crate::token::{Token, TokenError};

/// Longest reason of a key change, in characters.
const MAX_REASON: usize = 1024;

/// `create-ca-key`.
pub(super) async fn create(signer: &Signer, request: CreateCaKey) -> Answer {
    let CreateCaKey { token, key_algorithm, signature_algorithm, role, policy, context } = request;
    RequestError::check_size("the context", context.encoded_len(), MAX_CONTEXT)?;
    if !key_algorithm.makes(signature_algorithm) {
        return Err(RequestError::AlgorithmMismatch);
    }
    let policy = policy.unwrap_or_else(|| signer.config.ceiling.clone());
    RequestError::check_ceiling(&policy, &signer.config.ceiling)?;

    // One at a time: the limit must hold, and the token makes one key at a time anyway.
    let change = signer.keyring.change().await;
    let now = signer.may_sign()?;
    if signer.keyring.keys_in_all() >= MAX_KEYS {
        return Err(RequestError::KeyLimit { max: MAX_KEYS });
    }
    let device = signer.ready_token(&token)?;
    let max = device.max_keys();
    if signer.keyring.keys_on(&token) >= max {
        return Err(RequestError::KeyLimit { max });
    }
    spend_change(signer, "create-ca-key")?;

    let key_id = KeyId::new(now, random::bytes());
    let pending = Event::KeyPending {
        key_id,
        token,
        key_algorithm,
        signature_algorithm,
        role,
        policy,
        context,
    };
    change.make(pending).await?;
    fail_point::reach("signer: key pending");
    let spki = match device.create_key(key_id, key_algorithm, signature_algorithm).await {
        Ok(spki) => Bytes(spki),
        Err(error) => {
            clean_up(&change, device, key_id, &error).await;
            return Err(error.into());
        }
    };
    fail_point::reach("signer: key made");
    let head = change.make(Event::KeyCreated { key_id, spki: spki.clone() }).await?;
    fail_point::reach("signer: key created");
    tracing::info!(%key_id, "a CA key was made");
    Ok((Reply::KeyCreated(KeyCreated { key_id, spki }), Some(head)))
}

/// A key that was not made whole leaves the token; where that fails too, it stays pending and the
/// next sweep removes it.
async fn clean_up(change: &Change<'_>, device: &Token, key_id: KeyId, error: &TokenError) {
    let reason = error.to_string();
    match device.destroy_key(key_id).await {
        Ok(()) | Err(TokenError::KeyGone) => {
            if let Err(error) = change.make(Event::KeyCreationFailed { key_id, reason }).await {
                tracing::warn!(%key_id, %error, "a failed key creation stays pending");
            }
        }
        Err(error) => tracing::warn!(%key_id, %error, "a failed key creation stays pending"),
    }
}

/// `disable-key`: journaled once no use of the key is left, and none begins any more: no intent of
/// the key stands above the entry. It ends the enables that wait for the operator.
pub(super) async fn disable(signer: &Signer, request: KeyChange) -> Answer {
    let key_id = request.key_id;
    let change = begin(signer, &request).await?;
    let key = signer.keyring.key(key_id).ok_or(RequestError::UnknownKey)?;
    let head = match key.life {
        // Asked again after a lost reply: it is so already.
        Life::Disabled if approvals::open_enables(signer, key_id).is_empty() => None,
        Life::Live | Life::Disabled => {
            let _at_rest = signer.keyring.put_to_rest(key_id).await;
            Some(change.make(Event::KeyDisabled(event(request))).await?)
        }
        is => return Err(RequestError::KeyState { is, needed: "live" }),
    };
    approvals::withdraw_enables(signer, key_id).await;
    Ok((Reply::KeyChanged(KeyChanged { state: KeyState::Disabled }), head))
}

/// `enable-key`: at once or with approval, as the setting `enable` has it.
pub(super) async fn enable(signer: &Signer, request: KeyChange) -> Answer {
    approvals::make_sure(signer, &Request::EnableKey(request.clone())).await;
    // One change for the decision and the deed: no other request comes between.
    let change = begin(signer, &request).await?;
    let now = signer.may_sign()?;
    if life(signer, request.key_id)? == Life::Disabled
        && signer.config.enable == KeyChangeRule::Approve
    {
        let why = "enable = approve: the operator decides on each";
        return park(signer, request, Request::EnableKey, why, now).await;
    }
    let head = enable_now(signer, &change, request).await?;
    Ok((Reply::KeyChanged(KeyChanged { state: KeyState::Live }), head))
}

/// Enables a key that the operator lets be enabled.
pub(super) async fn enable_approved(
    signer: &Signer,
    approval_id: ApprovalId,
    request: KeyChange,
) -> Result<(), RequestError> {
    let change = begin(signer, &request).await?;
    // The key may have been disabled again while this waited for its turn.
    approvals::check_stands(signer, approval_id)?;
    enable_now(signer, &change, request).await.map(drop)
}

async fn enable_now(
    signer: &Signer,
    change: &Change<'_>,
    request: KeyChange,
) -> Result<Option<JournalHead>, RequestError> {
    // A keyring that may be behind must give no key its power back.
    signer.may_sign()?;
    match life(signer, request.key_id)? {
        Life::Live => Ok(None),
        Life::Disabled => {
            spend_change(signer, "enable-key")?;
            Ok(Some(change.make(Event::KeyEnabled(event(request))).await?))
        }
        is => Err(RequestError::KeyState { is, needed: "disabled" }),
    }
}

/// `destroy-key`: at once or with approval, as the setting `destroy` has it; a CA with CAs below
/// it always needs approval.
pub(super) async fn destroy(signer: &Signer, request: KeyChange) -> Answer {
    approvals::make_sure(signer, &Request::DestroyKey(request.clone())).await;
    // One change for the decision and the deed: no other request comes between.
    let change = begin(signer, &request).await?;
    let now = signer.may_sign()?;
    // A CA below that is signed and not installed yet counts.
    ca_certificate::install_signed(signer, &change).await?;
    let key = signer.keyring.key(request.key_id).ok_or(RequestError::UnknownKey)?;
    if key.life == Life::Disabled {
        if has_cas_below(signer, &key) {
            let why = "CAs below it would lose their issuer";
            return park(signer, request, Request::DestroyKey, why, now).await;
        }
        if signer.config.destroy == KeyChangeRule::Approve {
            let why = "destroy = approve: the operator decides on each";
            return park(signer, request, Request::DestroyKey, why, now).await;
        }
    }
    let head = destroy_now(signer, &change, request).await?;
    Ok((Reply::KeyChanged(KeyChanged { state: KeyState::Destroyed }), head))
}

/// Destroys a key that the operator lets be destroyed.
pub(super) async fn destroy_approved(
    signer: &Signer,
    request: KeyChange,
) -> Result<(), RequestError> {
    let change = begin(signer, &request).await?;
    destroy_now(signer, &change, request).await.map(drop)
}

/// From the first entry on the key can't come back, even if the token is away: then the next try
/// goes on from there.
async fn destroy_now(
    signer: &Signer,
    change: &Change<'_>,
    request: KeyChange,
) -> Result<Option<JournalHead>, RequestError> {
    let key_id = request.key_id;
    // What an old copy of the keyring calls disabled may be a live CA's key.
    signer.may_sign()?;
    match life(signer, key_id)? {
        Life::Destroyed => return Ok(None),
        Life::Destroying => {}
        Life::Disabled => {
            spend_change(signer, "destroy-key")?;
            let key = signer.keyring.key(key_id).ok_or(RequestError::UnknownKey)?;
            signer.ready_token(&key.token)?;
            // No signature of the key is journaled after this entry.
            let _at_rest = signer.keyring.put_to_rest(key_id).await;
            change.make(Event::KeyDestroying(event(request))).await?;
            approvals::withdraw_enables(signer, key_id).await;
            fail_point::reach("signer: key destroying");
        }
        is => return Err(RequestError::KeyState { is, needed: "disabled" }),
    }
    finish_destroying(signer, change, key_id).await.map(Some)
}

/// Removes the private key of a key that is `Destroying` from the token.
pub(crate) async fn finish_destroying(
    signer: &Signer,
    change: &Change<'_>,
    key_id: KeyId,
) -> Result<JournalHead, RequestError> {
    let key = signer.keyring.key(key_id).ok_or(RequestError::UnknownKey)?;
    let device = signer.ready_token(&key.token)?;
    match device.destroy_key(key_id).await {
        Ok(()) | Err(TokenError::KeyGone) => {}
        Err(error) => return Err(error.into()),
    }
    fail_point::reach("signer: key destroyed");
    tracing::info!(%key_id, "a CA key was destroyed");
    Ok(change.make(Event::KeyDestroyed { key_id }).await?)
}

async fn begin<'a>(signer: &'a Signer, request: &KeyChange) -> Result<Change<'a>, RequestError> {
    RequestError::check_size("the context", request.context.encoded_len(), MAX_CONTEXT)?;
    let length = request.reason.chars().count();
    if length == 0 || length > MAX_REASON {
        return Err(RequestError::BadReason);
    }
    Ok(signer.keyring.change().await)
}

fn life(signer: &Signer, key_id: KeyId) -> Result<Life, RequestError> {
    signer.keyring.key(key_id).map(|key| key.life).ok_or(RequestError::UnknownKey)
}

fn event(request: KeyChange) -> KeyEvent {
    let KeyChange { key_id, reason, context } = request;
    KeyEvent { key_id, reason, context }
}

fn spend_change(signer: &Signer, operation: &'static str) -> Result<(), RequestError> {
    signer.changes.spend(operation, signer.uptime()).map_err(|exhausted| {
        RequestError::RateLimited { what: "key changes", retry_after: exhausted.retry_after }
    })
}

async fn park(
    signer: &Signer,
    change: KeyChange,
    request: impl FnOnce(v1::KeyChange) -> Request,
    why: &'static str,
    now: OffsetDateTime,
) -> Answer {
    let (key_id, context) = (change.key_id, change.context.clone());
    let request = request(change);
    if let Some(approval_id) = approvals::waiting_for(signer, &request, now) {
        return Ok((Reply::Pending(Pending { approval_id }), None));
    }
    let parking = Parking { request, key_id, context, why };
    let (approval_id, head) = approvals::park(signer, parking, now).await?;
    Ok((Reply::Pending(Pending { approval_id }), Some(head)))
}

/// Whether a CA of this signer that is not destroyed has this key above it, by whichever of its
/// certificates. A disabled one counts: it may be enabled again.
fn has_cas_below(signer: &Signer, key: &Arc<KeyRecord>) -> bool {
    let is_this_key = |der: &Bytes| {
        CaCertificate::from_der(der.as_slice()).is_ok_and(|above| above.spki() == key.spki())
    };
    signer.keyring.keys().iter().any(|other| {
        let is_gone = matches!(other.life, Life::Destroying | Life::Destroyed);
        other.key_id != key.key_id && !is_gone && other.ca_chain().iter().any(is_this_key)
    })
}
