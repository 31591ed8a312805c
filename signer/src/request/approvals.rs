//! Parking what needs the operator, and doing it once the operator has approved.

use std::sync::Arc;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::{ApprovalId, KeyId};
use chancery_shared::text;
use chancery_shared::wire::journal::Event;
use chancery_shared::wire::v1::{ApprovalQuery, ApprovalStatus, Reply, Request, TokenState};
use chancery_shared::wire::{Context, JournalHead};
use der::Decode as _;
use time::OffsetDateTime;
use x509_cert::TbsCertificate;

use super::sign::Leave;
use super::{Answer, Label, ca_certificate, keys, tbs, tbs_hash};
use crate::approval::{ApprovalError, Fate, MAX_SUMMARY, ParkedRequest};
use crate::journal::{self, Decided, Journal, JournalError};
use crate::random;
use crate::refusal::RequestError;
use crate::signer::Signer;
use crate::token::TokenError;

/// A request on its way into the waiting ones.
pub(super) struct Parking {
    pub(super) request: Request,
    pub(super) key_id: KeyId,
    pub(super) context: Context,
    pub(super) why: &'static str,
}

/// Takes a place, journals the request as parked, then keeps it: whatever waits is in the journal.
pub(super) async fn park(
    signer: &Signer,
    parking: Parking,
    parked_at: OffsetDateTime,
) -> Result<(ApprovalId, JournalHead), RequestError> {
    let Parking { request, key_id, context, why } = parking;
    let place = signer.approvals.place(parked_at).await?;
    // A taken-over API must not bury what the operator has to see.
    signer.parkings.spend((), signer.uptime()).map_err(|exhausted| RequestError::RateLimited {
        what: "requests that wait for the operator",
        retry_after: exhausted.retry_after,
    })?;
    let approval_id = ApprovalId::new(parked_at, random::bytes());
    let (operation, tbs) = (super::operation(&request), tbs(&request));
    let event = Event::Parked {
        approval_id,
        operation: operation.into(),
        key_id,
        tbs_hash: tbs.map(|tbs| super::sha256(tbs.as_slice())),
        context,
    };
    let head = signer.journal.append(event).await?;
    let summary = format!("{operation} by key {key_id}: {}{why}", subject(tbs));
    let summary = text::plain(&summary, MAX_SUMMARY);
    let fate = Fate::Waiting;
    let parked_seq = head.seq;
    let parked = ParkedRequest { approval_id, request, summary, parked_at, parked_seq, fate };
    place.park(parked).await?;
    tracing::warn!(%approval_id, operation, %key_id, "a request waits for the operator");
    Ok((approval_id, head))
}

/// The request that waits for the same change of the same key, or is being decided on: asked for
/// again, it takes no second place. One of which [`make_sure`] could not be is none.
pub(super) fn waiting_for(
    signer: &Signer,
    change: &Request,
    now: OffsetDateTime,
) -> Option<ApprovalId> {
    let is_sure = |parked: &&Arc<ParkedRequest>| !signer.approvals.is_doubtful(parked.approval_id);
    same_change(signer, change, now).iter().find(is_sure).map(|parked| parked.approval_id)
}

/// Asks the journal what became of those that seem to wait for the same change. That reads as much
/// of it as was written since, so no lock may be held.
pub(super) async fn make_sure(signer: &Signer, change: &Request) {
    for parked in same_change(signer, change, signer.guarded_now()) {
        if let Err(error) = not_decided_before(signer, &parked).await {
            tracing::debug!(approval_id = %parked.approval_id, %error, "what seemed to wait is not counted on");
        }
    }
}

fn same_change(signer: &Signer, change: &Request, now: OffsetDateTime) -> Vec<Arc<ParkedRequest>> {
    let is_same = |request: &Request| match (request, change) {
        (Request::EnableKey(one), Request::EnableKey(other))
        | (Request::DestroyKey(one), Request::DestroyKey(other)) => one.key_id == other.key_id,
        _ => false,
    };
    let open = signer.approvals.open_ones().into_iter();
    let open = open.filter(|parked| is_same(&parked.request));
    open.filter(|parked| parked.status(now) == ApprovalStatus::Waiting).collect()
}

/// The enables of a key of which something may still come.
pub(super) fn open_enables(signer: &Signer, key_id: KeyId) -> Vec<ApprovalId> {
    let is_enable = |request: &Request| match request {
        Request::EnableKey(change) => change.key_id == key_id,
        _ => false,
    };
    let open = signer.approvals.open_ones().into_iter();
    open.filter(|parked| is_enable(&parked.request)).map(|parked| parked.approval_id).collect()
}

/// Ends them, once the journal says that the key is out of use: a word of the operator on what was
/// asked for before that must not bring it back.
pub(super) async fn withdraw_enables(signer: &Signer, key_id: KeyId) {
    for approval_id in open_enables(signer, key_id) {
        end(signer, approval_id, Fate::Expired).await;
        tracing::warn!(%approval_id, %key_id, "an enable that waited is over: its key is out of use");
    }
}

/// Whether the approval that is being carried out still stands. To be asked while no key changes.
pub(super) fn check_stands(signer: &Signer, approval_id: ApprovalId) -> Result<(), ApprovalError> {
    let parked = signer.approvals.find(approval_id).ok_or(ApprovalError::Unknown)?;
    match parked.fate {
        Fate::Deciding { .. } => Ok(()),
        _ => Err(ApprovalError::Closed),
    }
}

/// In a list there is room for so much of a subject; `show` has it whole.
const SUBJECT: usize = 200;

fn subject(tbs: Option<&Bytes>) -> String {
    tbs.and_then(|tbs| TbsCertificate::from_der(tbs.as_slice()).ok())
        .map(|tbs| {
            let subject = text::plain(&tbs.subject().to_string(), SUBJECT);
            format!("{subject}, until {}; ", tbs.validity().not_after)
        })
        .unwrap_or_default()
}

/// `approval-status`.
pub(super) fn status(signer: &Signer, query: &ApprovalQuery) -> Answer {
    let status = match signer.approvals.find(query.approval_id) {
        Some(parked) => parked.status(signer.guarded_now()),
        // Whatever became of it: whoever asks must not take it for over and clean up behind it.
        None if signer.approvals.unreadable().contains(&query.approval_id) => {
            ApprovalStatus::Waiting
        }
        None => return Err(ApprovalError::Unknown.into()),
    };
    Ok((Reply::Approval(status), None))
}

/// Does a parked request on the operator's word.
///
/// # Errors
///
/// It is not open, or can't be done. Where the reason passes by itself it waits again; else it is
/// over, and the API has to ask again.
pub async fn approve(
    signer: &Signer,
    approval_id: ApprovalId,
    operator_uid: u32,
) -> Result<Option<Bytes>, RequestError> {
    // What is known to fail now need not be begun.
    let now = signer.may_sign()?;
    let asked = signer.approvals.find(approval_id).ok_or(ApprovalError::Unknown)?;
    if let Some((key_id, _)) = super::key_and_context(&asked.request) {
        let key = signer.keyring.key(key_id).ok_or(RequestError::UnknownKey)?;
        if signer.ready_token(&key.token)?.state() != TokenState::Ok {
            return Err(TokenError::Unavailable.into());
        }
    }
    not_decided_before(signer, &asked).await?;
    let after = signer.journal.head().seq;
    let parked = signer.approvals.begin(approval_id, now, after).await?;
    let done = match signer.journal.append(Event::Approved { approval_id, operator_uid }).await {
        Ok(_) => carry_out(signer, &parked).await,
        Err(error) => Err(error.into()),
    };
    match &done {
        Ok(signature) => {
            end(signer, approval_id, Fate::Approved { signature: signature.clone() }).await;
        }
        Err(error) => {
            let request = &parked.request;
            super::refused(signer, &Label::of(request), || tbs_hash(request), error).await;
            end_failed(signer, &parked, after, error).await;
        }
    }
    done
}

/// What failed may have been done all the same, such as a change that only the keyring's file
/// could not follow: the journal decides. Where it was not, it waits again, unless it can't be
/// done any more.
async fn end_failed(signer: &Signer, parked: &ParkedRequest, after: u64, error: &RequestError) {
    let approval_id = parked.approval_id;
    if error.leaves_journal_uncertain() {
        // The signer stops now. The next start knows what reached the disk.
        return;
    }
    match decided(signer, parked, after).await {
        Ok(Decided::Nothing) if !error.passes_by_itself() => {
            end(signer, approval_id, Fate::Expired).await;
        }
        Ok(decided) => end(signer, approval_id, decided.into()).await,
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::error!(%approval_id, error, "what came of an approval is known at the next start");
        }
    }
}

/// Where an older copy of its file came back, what was decided long ago seems to wait: the journal
/// knows better.
async fn not_decided_before(signer: &Signer, parked: &ParkedRequest) -> Result<(), RequestError> {
    let approval_id = parked.approval_id;
    if !signer.approvals.is_doubtful(approval_id) {
        return Ok(());
    }
    match decided(signer, parked, parked.parked_seq).await? {
        Decided::Nothing => {
            signer.approvals.make_sure(approval_id);
            Ok(())
        }
        decided => {
            end(signer, approval_id, decided.into()).await;
            Err(ApprovalError::Closed.into())
        }
    }
}

async fn decided(
    signer: &Signer,
    parked: &ParkedRequest,
    after: u64,
) -> Result<Decided, JournalError> {
    let folder = signer.config.journal_folder();
    let (approval_id, request) = (parked.approval_id, parked.request.clone());
    let read = move |_: &Journal| journal::decided(&folder, after, approval_id, &request);
    signer.journal.reading(read).await
}

async fn end(signer: &Signer, approval_id: ApprovalId, fate: Fate) {
    if let Err(error) = signer.approvals.end(approval_id, fate).await {
        // It is so all the same, and is written as soon as the disk takes it.
        tracing::error!(%approval_id, %error, "the end of an approval could not be written");
    }
}

async fn carry_out(signer: &Signer, parked: &ParkedRequest) -> Result<Option<Bytes>, RequestError> {
    let ParkedRequest { approval_id, parked_at, .. } = *parked;
    match parked.request.clone() {
        request @ (Request::SignOwnCertificate(_) | Request::SignCaCertificate(_)) => {
            let leave = Leave::Operator { approval_id, parked_at };
            ca_certificate::sign_approved(signer, request, leave).await.map(Some)
        }
        Request::InstallCaCertificate(install) => {
            ca_certificate::install_approved(signer, install).await.map(|()| None)
        }
        Request::EnableKey(change) => {
            keys::enable_approved(signer, approval_id, change).await.map(|()| None)
        }
        Request::DestroyKey(change) => keys::destroy_approved(signer, change).await.map(|()| None),
        _ => Err(ApprovalError::Unknown.into()),
    }
}

/// Ends a parked request on the operator's word.
///
/// # Errors
///
/// It is not open, or the journal did not take the decision: then it waits still.
pub async fn deny(
    signer: &Signer,
    approval_id: ApprovalId,
    operator_uid: u32,
) -> Result<(), RequestError> {
    let asked = signer.approvals.find(approval_id).ok_or(ApprovalError::Unknown)?;
    not_decided_before(signer, &asked).await?;
    let after = signer.journal.head().seq;
    let parked = signer.approvals.begin(approval_id, signer.guarded_now(), after).await?;
    match signer.journal.append(Event::Denied { approval_id, operator_uid }).await {
        Ok(_) => {
            end(signer, approval_id, Fate::Denied).await;
            Ok(())
        }
        Err(error) => {
            let error = error.into();
            end_failed(signer, &parked, after, &error).await;
            Err(error)
        }
    }
}
